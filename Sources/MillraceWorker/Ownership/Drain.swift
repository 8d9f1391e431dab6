// Graceful shutdown within one time limit: stop taking records, finish or hand back, commit, leave.

internal import MillraceTime

/// The shutdown of a lane or a process, step by step.
struct Drain: Sendable, Hashable {
  /// The action to perform.
  enum Action: Sendable, Hashable {
    /// Take no more records, and start no more handlers.
    case stopTaking
    /// Cancel the handlers that still run. Their records are not committed, so the next owner reads them again.
    case cancelHandlers
    /// Commit the decided outcomes.
    case commit
    /// Answer the revocation or leave the group.
    case leave
  }

  private enum Phase: Sendable, Hashable { case running, finishing, committing, left }

  private let limit: Duration
  private let reserve: Duration
  private var phase = Phase.running
  private var deadline = MillraceClock.Instant(elapsed: .zero)

  /// - Parameter limit: The longest time from ``begin(now:handlers:)`` to `leave`. A quarter of it, at most 5 s, is
  ///   reserved for the commit.
  init(limit: Duration) {
    self.limit = max(.zero, limit)
    reserve = min(self.limit / 4, .seconds(5))
  }

  /// The time when ``passed(now:)`` has to be called next.
  var wakeAt: MillraceClock.Instant? {
    switch phase {
    case .running, .left: nil
    case .finishing: deadline.advanced(by: .zero - reserve)
    case .committing: deadline
    }
  }

  /// Whether the shutdown is complete.
  var hasLeft: Bool { phase == .left }

  /// Starts the shutdown. A second call has no effect.
  /// - Parameter handlers: The number of running handlers.
  mutating func begin(now: MillraceClock.Instant, handlers: Int) -> [Action] {
    guard phase == .running else { return [] }
    phase = .finishing
    deadline = now.advanced(by: limit)
    return [.stopTaking] + handlersLeft(handlers)
  }

  /// Updates the number of running handlers.
  mutating func handlersLeft(_ handlers: Int) -> [Action] {
    guard phase == .finishing, handlers <= 0 else { return [] }
    phase = .committing
    return [.commit]
  }

  /// Every decided outcome is in Kafka, or can no longer be committed.
  mutating func committed() -> [Action] {
    guard phase == .committing else { return [] }
    phase = .left
    return [.leave]
  }

  /// Checks the time limits.
  mutating func passed(now: MillraceClock.Instant) -> [Action] {
    guard let wakeAt, wakeAt <= now else { return [] }
    switch phase {
    case .running, .left: return []
    case .finishing:
      phase = .committing
      return [.cancelHandlers, .commit] + passed(now: now)
    case .committing: return committed()
    }
  }
}
