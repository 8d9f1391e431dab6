// The system's calendar time. Only this file reads it.

internal import AppStore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

extension MillraceClock {
  /// Returns milliseconds since 1970 from the system's real-time clock.
  static func systemTime() -> Timestamp {
    var time = timespec()
    // CLOCK_REALTIME exists on every supported platform. A failure would leave zero, which is 1970.
    _ = clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(millisecondsSince1970: Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
