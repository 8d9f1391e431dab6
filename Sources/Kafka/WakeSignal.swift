internal import Synchronization

/// Turns "the queue is no longer empty", told by one of librdkafka's threads, into the resumption of one waiting task.
///
/// Signals collapse: any number before a wait count as one. At most one task waits at a time; a second waiter
/// takes the place of the first, which returns as if it had been woken, so a mistake costs a turn and never a task.
final class WakeSignal: Sendable {
  private struct State {
    var isSignalled = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Wakes the waiter, or lets the next wait return at once. Callable from any thread; calls nothing of librdkafka.
  func signal() {
    let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
      guard let waiter = state.waiter else {
        state.isSignalled = true
        return nil
      }
      state.waiter = nil
      return waiter
    }
    waiter?.resume()
  }

  /// Returns when signalled or when the task is cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let resumed = state.withLock { state -> CheckedContinuation<Void, Never>? in
          if state.isSignalled || Task.isCancelled {
            state.isSignalled = false
            return continuation
          }
          let displaced = state.waiter
          state.waiter = continuation
          return displaced
        }
        resumed?.resume()
      }
    } onCancel: {
      signal()
    }
  }
}
