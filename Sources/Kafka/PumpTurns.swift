internal import Synchronization

/// When a pump turned last. A pump that waits is woken each second, so that one that does not turn hangs.
final class PumpTurns: Sendable {
  private let last = Mutex<ContinuousClock.Instant?>(nil)

  func note() { last.withLock { $0 = .now } }

  /// It turns no more, as it should.
  func end() { last.withLock { $0 = nil } }

  /// How long ago that was; nil where none runs.
  var age: Duration? { last.withLock { $0 }.map { $0.duration(to: .now) } }
}
