// One timer for the time limits of many pieces of work. The system keeps a timer until it is due, even if the work ends
// early: a one-minute limit at ten thousand a second would mean more than half a million timers.

internal import Synchronization

/// Reports every piece of work that exceeds the limit, which is the same for all, with one timer.
package final class TimeLimits: Sendable {
  private struct Run {
    var deadline: MillraceClock.Instant
    var work: UInt64
    var expire: @Sendable (_ work: UInt64) -> Void
  }

  /// Deadlines are in the order of the numbers, because the limit is the same for all.
  private struct State {
    var runs: [UInt64: Run] = [:]
    var oldest: UInt64 = 0
    var next: UInt64 = 0

    mutating func end(_ number: UInt64) {
      runs[number] = nil
      while oldest < next, !runs.keys.contains(oldest) { oldest += 1 }
    }
  }

  /// The time limit of each piece of work.
  package let limit: Duration
  private let clock: MillraceClock
  private let state = Mutex(State())

  /// - Parameter limit: Counted from the start of a piece of work.
  package init(_ limit: Duration, on clock: MillraceClock) {
    self.limit = limit
    self.clock = clock
  }

  /// Registers the start of a piece of work.
  /// - Parameters:
  ///   - work: The value to pass to `expire`, so that one closure can serve many pieces of work.
  ///   - expire: Called once if the work exceeds the limit while ``run()`` runs. It is not called after ``end(_:)`` has
  ///     returned, but may be called during ``end(_:)``.
  /// - Returns: The number of the work.
  package func begin(_ work: UInt64, _ expire: @escaping @Sendable (_ work: UInt64) -> Void) -> UInt64 {
    state.withLock { state in
      // Read the clock under the lock, so that deadlines ascend with the numbers.
      state.runs[state.next] = Run(deadline: clock.now.advanced(by: limit), work: work, expire: expire)
      state.next += 1
      return state.next - 1
    }
  }

  /// Registers the end of a piece of work.
  package func end(_ number: UInt64) { state.withLock { $0.end(number) } }

  /// Reports work that exceeds the limit, until cancelled.
  package func run() async throws {
    while true {
      for run in expired() { run.expire(run.work) }
      // Work that begins during this sleep is due after it.
      let oldest = state.withLock { $0.runs[$0.oldest]?.deadline }
      try await clock.sleep(until: oldest ?? clock.now.advanced(by: limit))
    }
  }

  /// The number of registered pieces of work.
  var count: Int { state.withLock { $0.runs.count } }

  private func expired() -> [Run] {
    state.withLock { state in
      let now = clock.now
      var expired: [Run] = []
      while let run = state.runs[state.oldest], run.deadline <= now {
        expired.append(run)
        state.end(state.oldest)
      }
      return expired
    }
  }
}
