// Limits the wait for work that may ignore cancellation. A task group cannot do this: it waits for every child, and one
// stuck child blocks it forever.

internal import Synchronization

extension MillraceClock {
  /// Returns the result of `work`, or `nil` if it takes longer than `limit`.
  ///
  /// `work` is cancelled if the limit passes or the caller is cancelled, but the caller does not wait for it. Work that
  /// ignores cancellation continues in the background until it ends.
  public func result<Success: Sendable>(
    within limit: Duration, of work: @escaping @Sendable () async throws -> Success
  ) async throws -> Success? {
    let deadline = now.advanced(by: limit)
    let race = Race<Success?>()
    let worker = Task {
      do { race.finish(.success(try await work())) } catch { race.finish(.failure(error)) }
    }
    let timer = Task {
      do {
        try await sleep(until: deadline)
        race.finish(.success(nil))
      } catch {
        // Cancelled: the work ended first, or the caller was cancelled, which the handler below reports.
      }
    }
    defer {
      worker.cancel()
      timer.cancel()
    }
    return try await withTaskCancellationHandler {
      try await race.value()
    } onCancel: {
      race.finish(.failure(CancellationError()))
    }
  }
}

/// The first of several results.
final class Race<Value: Sendable>: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<Value, any Error>)
    case finished(Result<Value, any Error>)
    case taken
  }

  private let state = Mutex(State.open)

  func finish(_ result: Result<Value, any Error>) {
    let waiter: CheckedContinuation<Value, any Error>? = state.withLock { state in
      switch state {
      case .open:
        state = .finished(result)
        return nil
      case .waiting(let continuation):
        state = .taken
        return continuation
      case .finished, .taken:
        return nil
      }
    }
    waiter?.resume(with: result)
  }

  func value() async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      let result: Result<Value, any Error>? = state.withLock { state in
        if case .finished(let result) = state {
          state = .taken
          return result
        }
        state = .waiting(continuation)
        return nil
      }
      if let result { continuation.resume(with: result) }
    }
  }
}
