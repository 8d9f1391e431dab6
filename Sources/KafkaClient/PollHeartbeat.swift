internal import Synchronization

/// The time of a poll loop's last iteration. A waiting loop wakes every second, so a loop without iterations hangs.
final class PollHeartbeat: Sendable {
  private let last = Mutex<ContinuousClock.Instant?>(nil)

  func note() { last.withLock { $0 = .now } }

  /// Records that the loop has ended.
  func end() { last.withLock { $0 = nil } }

  /// The time since the last iteration; nil if the loop does not run.
  var age: Duration? { last.withLock { $0 }.map { $0.duration(to: .now) } }
}
