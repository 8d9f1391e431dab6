// A clock that tests advance by hand. Sleepers wake in the order of their deadlines. A test can wait until a task
// sleeps, so it does not have to sleep itself.

package import AppStore
internal import Synchronization

/// A clock whose time changes only with ``advance(by:)``.
package final class ManualClock: Sendable {
  private struct Sleeper {
    var deadline: Duration
    var wake: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var elapsed = Duration.zero
    var nextID: UInt64 = 0
    var sleepers: [UInt64: Sleeper] = [:]
    var cancelledEarly: Set<UInt64> = []
    var watchers: [(count: Int, wake: CheckedContinuation<Void, Never>)] = []
  }

  private let start: Timestamp
  private let state = Mutex(State())

  /// Creates a clock that shows `start`.
  package init(start: Timestamp = Timestamp(millisecondsSince1970: 1_767_225_600_000)) {
    self.start = start
  }

  /// This clock as a ``MillraceClock``.
  package var clock: MillraceClock {
    MillraceClock(
      wallTime: { self.start + self.state.withLock(\.elapsed) },
      elapsed: { self.state.withLock(\.elapsed) },
      sleepUntil: { try await self.sleep(until: $0) })
  }

  /// Advances the time and wakes sleepers whose deadline has passed, earliest deadline first.
  package func advance(by duration: Duration) {
    let due = state.withLock { state in
      state.elapsed += duration
      let due = state.sleepers.filter { $0.value.deadline <= state.elapsed }
      for id in due.keys { state.sleepers[id] = nil }
      return due.sorted { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }.map(\.value.wake)
    }
    for wake in due { wake.resume() }
  }

  /// The earliest deadline of the current sleepers, as time since the clock's start; nil if no task sleeps.
  package var nextDeadline: Duration? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

  /// Returns when at least `count` tasks sleep on this clock.
  package func waitForSleepers(_ count: Int = 1) async {
    await withCheckedContinuation { continuation in
      let isThere = state.withLock { state in
        if state.sleepers.count >= count { return true }
        state.watchers.append((count, continuation))
        return false
      }
      if isThere { continuation.resume() }
    }
  }

  private func sleep(until deadline: Duration) async throws {
    let id = state.withLock { state in
      state.nextID += 1
      return state.nextID
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
        enum Next { case wake, cancel, sleep([CheckedContinuation<Void, Never>]) }
        let next: Next = state.withLock { state in
          if state.cancelledEarly.remove(id) != nil { return .cancel }
          if deadline <= state.elapsed { return .wake }
          state.sleepers[id] = Sleeper(deadline: deadline, wake: continuation)
          let ready = state.watchers.filter { $0.count <= state.sleepers.count }
          state.watchers.removeAll { $0.count <= state.sleepers.count }
          return .sleep(ready.map(\.wake))
        }
        switch next {
        case .wake: continuation.resume()
        case .cancel: continuation.resume(throwing: CancellationError())
        case .sleep(let watchers): for watcher in watchers { watcher.resume() }
        }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        let sleeper = state.sleepers.removeValue(forKey: id)
        if sleeper == nil { state.cancelledEarly.insert(id) }
        return sleeper
      }
      sleeper?.wake.resume(throwing: CancellationError())
    }
  }
}
