// One time limit for many pieces of work. A timer for each of them would stay with the system until it is due, however
// early the work ends: a minute's limit at ten thousand a second is more than half a million timers.

internal import Synchronization

/// Tells of every piece of work that takes longer than the limit, which is the same for all, with one timer.
package final class TimeLimits: Sendable {
  private struct Run {
    var deadline: MillraceClock.Instant
    var work: UInt64
    var expire: @Sendable (_ work: UInt64) -> Void
  }

  /// Numbers follow each other, and so do deadlines: the limit is the same for all.
  private struct State {
    var runs: [UInt64: Run] = [:]
    var oldest: UInt64 = 0
    var next: UInt64 = 0

    mutating func end(_ number: UInt64) {
      runs[number] = nil
      while oldest < next, !runs.keys.contains(oldest) { oldest += 1 }
    }
  }

  /// How long each may take.
  package let limit: Duration
  private let clock: MillraceClock
  private let state = Mutex(State())

  /// - Parameter limit: Counted from when a piece of work begins.
  package init(_ limit: Duration, on clock: MillraceClock) {
    self.limit = limit
    self.clock = clock
  }

  /// A piece of work begins.
  /// - Parameters:
  ///   - work: What `expire` is told. So one closure serves many pieces of work.
  ///   - expire: Called once when it is over its limit, as long as ``run()`` runs; not after ``end(_:)``, but perhaps
  ///     while that is called.
  /// - Returns: its number.
  package func begin(_ work: UInt64, _ expire: @escaping @Sendable (_ work: UInt64) -> Void) -> UInt64 {
    state.withLock { state in
      // Read inside, so that deadlines ascend with the numbers.
      state.runs[state.next] = Run(deadline: clock.now.advanced(by: limit), work: work, expire: expire)
      state.next += 1
      return state.next - 1
    }
  }

  /// It is over.
  package func end(_ number: UInt64) { state.withLock { $0.end(number) } }

  /// Tells of what is over its limit, until cancelled.
  package func run() async throws {
    while true {
      for run in expired() { run.expire(run.work) }
      // Work that begins while this sleeps is due after it.
      let oldest = state.withLock { $0.runs[$0.oldest]?.deadline }
      try await clock.sleep(until: oldest ?? clock.now.advanced(by: limit))
    }
  }

  /// How much work is under way.
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
