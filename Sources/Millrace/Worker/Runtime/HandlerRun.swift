// A handler that ignores its cancellation is left behind, and an operator has to learn of it: it holds what it holds.

internal import Synchronization

/// One run of a handler, from where it is waited for and from where it ends.
final class HandlerRun: Sendable {
  private enum State { case running, ended, stuck }

  private let state = Mutex(State.running)
  private let metrics: WorkerMetrics

  init(_ metrics: WorkerMetrics) { self.metrics = metrics }

  /// Nobody waits for it any more.
  func giveUp() {
    state.withLock { state in
      guard state == .running else { return }
      state = .stuck
      metrics.handlerStuck()
    }
  }

  /// It has returned.
  func end() {
    state.withLock { state in
      if state == .stuck { metrics.handlerFreed() }
      state = .ended
    }
  }
}
