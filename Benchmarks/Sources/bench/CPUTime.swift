// What work costs, not how long it took: other processes on the machine must not count.
import Glibc

enum CPUTime {
  /// Seconds of processor time of this process, all threads.
  static var ofProcess: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
