// Wakes the one task of a lane that waits for times.

internal import Clocks
internal import Synchronization

/// A bell for one waiter: rings that come before the wait are not lost.
final class LaneBell: Sendable {
  private struct State {
    var hasRung = false
    var waiter: CheckedContinuation<Void, Never>?
  }

  private let state = Mutex(State())

  /// Wakes the waiter, now or when it comes.
  func ring() {
    let waiter = state.withLock { state in
      defer {
        state.hasRung = state.waiter == nil
        state.waiter = nil
      }
      return state.waiter
    }
    waiter?.resume()
  }

  /// Waits for the next ring; returns when cancelled.
  func wait() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          defer { state.hasRung = false }
          if state.hasRung || Task.isCancelled { return true }
          state.waiter = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      ring()
    }
  }

  /// Waits for the next ring, at most until `deadline`; nil waits for as long as it takes.
  func wait(until deadline: MillraceClock.Instant?, on clock: MillraceClock) async {
    guard let deadline else { return await wait() }
    let alarm = Task {
      do { try await clock.sleep(until: deadline) } catch { return }
      self.ring()
    }
    await wait()
    alarm.cancel()
  }
}
