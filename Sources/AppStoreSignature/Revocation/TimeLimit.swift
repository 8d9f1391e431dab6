// A time limit that holds even when the work ignores its cancellation.
import Synchronization

/// Runs `operation` for at most `limit`, as `sleep` measures it.
///
/// A task group would wait for work that does not react to cancellation; this returns at once and leaves it behind,
/// cancelled.
///
/// - Returns: what `operation` returned; nil when time ran out first.
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
        // Cancelled because the work finished first: the race is decided, and nil changes nothing.
      }
      return nil
    }
  }
}

/// Resumes once, with whoever comes first, and cancels the other.
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
