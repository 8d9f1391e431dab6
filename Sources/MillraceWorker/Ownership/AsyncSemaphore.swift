// Limits how many tasks do something at the same time. The others wait in the order in which they arrived.

internal import DequeModule
internal import Synchronization

final class AsyncSemaphore: Sendable {
  private struct State {
    var free: Int
    var waiting = Deque<CheckedContinuation<Void, Never>>()
  }

  private let state: Mutex<State>

  init(_ places: Int) { state = Mutex(State(free: max(1, places))) }

  /// Waits for a place and runs `body`. Cancellation does not end the wait, so `body` has to check for it.
  func pass<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
  ) async rethrows -> Result {
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.waiting.append(continuation)
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
    defer { leave() }
    return try await body()
  }

  private func leave() {
    let next = state.withLock { state in
      let next = state.waiting.popFirst()
      if next == nil { state.free += 1 }
      return next
    }
    next?.resume()
  }
}
