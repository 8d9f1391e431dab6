// A time limit that also works if the operation ignores cancellation.
import Synchronization

/// Runs `operation` for at most `limit`, measured by `sleep`.
///
/// A task group would wait for work that ignores cancellation. This function returns immediately and leaves the
/// cancelled task running.
///
/// - Returns: the result of `operation`; nil if the time limit passed first.
func withTimeLimit<Value: Sendable>(
  _ limit: Duration,
  sleep: @escaping @Sendable (Duration) async throws -> Void,
  operation: @escaping @Sendable () async -> Value
) async -> Value? {
  await withCheckedContinuation { continuation in
    let race = Race(continuation)
    race.run { await operation() }
    race.run {
      do {
        try await sleep(limit)
      } catch {
        // Cancelled because the operation finished first; returning nil has no effect.
      }
      return nil
    }
  }
}

/// Resumes once, with the first result, and cancels the other tasks.
private final class Race<Value: Sendable>: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Value?, Never>?
    var runners: [Task<Void, Never>] = []
  }

  private let state: Mutex<State>

  init(_ continuation: CheckedContinuation<Value?, Never>) {
    state = Mutex(State(continuation: continuation))
  }

  func run(_ body: @escaping @Sendable () async -> Value?) {
    let runner = Task { self.finish(await body()) }
    let isDecided = state.withLock { state in
      state.runners.append(runner)
      return state.continuation == nil
    }
    if isDecided { runner.cancel() }
  }

  private func finish(_ value: Value?) {
    let (continuation, runners) = state.withLock { state in
      defer { state.continuation = nil }
      return (state.continuation, state.runners)
    }
    guard let continuation else { return }
    continuation.resume(returning: value)
    for runner in runners { runner.cancel() }
  }
}
