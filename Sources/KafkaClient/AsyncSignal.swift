internal import Synchronization

/// Resumes a waiting task when one of librdkafka's threads signals that a queue is no longer empty.
///
/// Any number of signals before a wait count as one. Only one task may wait at a time. A second waiter replaces the
/// first, which returns as if it had been signalled, so that a mistake never blocks a task.
package final class AsyncSignal: Sendable {
  private struct State {
    var isSignalled = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  package init() {}

  /// Whether the next wait returns immediately.
  var isSignalled: Bool { state.withLock(\.isSignalled) }
  /// Whether a task is waiting.
  var isAwaited: Bool { state.withLock { $0.waiter != nil } }

  /// Wakes the waiting task, or makes the next wait return immediately. Can be called on any thread; does not call
  /// librdkafka.
  package func signal() {
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

  /// Waits until signalled or until the task is cancelled.
  package func wait() async {
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
