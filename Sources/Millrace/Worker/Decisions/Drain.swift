// Leaving in order: stop taking, finish or hand back, commit, leave, inside one time limit.

internal import Clocks

/// The end of a lane or a process, step by step.
struct Drain: Sendable, Hashable {
  /// What is to be done.
  enum Action: Sendable, Hashable {
    /// Take no more records; hand out no more.
    case stopTaking
    /// Cancel the handlers that still run. Their records are handed back: not committed, so that the successor reads
    /// them.
    case cancelHandlers
    /// Commit what was decided.
    case commit
    /// Answer the revocation or leave the group.
    case leave
  }

  private enum Phase: Sendable, Hashable { case running, finishing, committing, left }

  private let limit: Duration
  private let reserve: Duration
  private var phase = Phase.running
  private var deadline = MillraceClock.Instant(elapsed: .zero)

  /// - Parameter limit: Longest time from ``begin(now:handlers:)`` to `leave`. A quarter of it, at most 5 s, is kept for
  ///   the commit.
  init(limit: Duration) {
    self.limit = max(.zero, limit)
    reserve = min(self.limit / 4, .seconds(5))
  }

  /// When ``passed(now:)`` has to be called next.
  var wakeAt: MillraceClock.Instant? {
    switch phase {
    case .running, .left: nil
    case .finishing: deadline.advanced(by: .zero - reserve)
    case .committing: deadline
    }
  }

  /// Whether records may still be taken.
  var isTaking: Bool { phase == .running }
  /// Whether it is over.
  var hasLeft: Bool { phase == .left }

  /// The end begins. Doing it twice changes nothing.
  /// - Parameter handlers: Handlers that run.
  mutating func begin(now: MillraceClock.Instant, handlers: Int) -> [Action] {
    guard phase == .running else { return [] }
    phase = .finishing
    deadline = now.advanced(by: limit)
    return [.stopTaking] + handlersLeft(handlers)
  }

  /// That many handlers still run.
  mutating func handlersLeft(_ handlers: Int) -> [Action] {
    guard phase == .finishing, handlers <= 0 else { return [] }
    phase = .committing
    return [.commit]
  }

  /// Everything that was decided is in Kafka, or can never be.
  mutating func committed() -> [Action] {
    guard phase == .committing else { return [] }
    phase = .left
    return [.leave]
  }

  /// Time passed.
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
