// So many at once, the others in the order in which they came.

internal import Synchronization

/// Bounds how many do something at the same time.
final class Turnstile: Sendable {
  private struct State {
    var free: Int
    var waiting = FIFO<CheckedContinuation<Void, Never>>()
  }

  private let state: Mutex<State>

  init(_ places: Int) { state = Mutex(State(free: max(1, places))) }

  /// Waits for a place and does it. Whoever is cancelled while it waits has its turn all the same: `body` finds out.
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
