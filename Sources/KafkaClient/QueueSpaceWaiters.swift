internal import Synchronization

/// Tasks that wait for a delivery report to make room in the producer's full queue.
///
/// Take a ticket *before* the attempt that may fail, so that the wait notices room made between the two.
final class QueueSpaceWaiters: Sendable {
  private struct State {
    var generation: UInt64 = 0
    var nextID: UInt64 = 0
    var waiting: [UInt64: CheckedContinuation<Bool, Never>] = [:]
  }

  private let state = Mutex(State())

  func ticket() -> UInt64 { state.withLock { $0.generation } }

  /// Waits for room. Returns true once room was made after the ticket was taken, false at the deadline.
  func wait(_ ticket: UInt64, until deadline: ContinuousClock.Instant) async -> Bool {
    let id = state.withLock { state -> UInt64 in
      state.nextID += 1
      return state.nextID
    }
    let alarm = Task {
      do { try await Task.sleep(until: deadline, clock: .continuous) } catch { return }
      self.resume(id, with: false)
    }
    defer { alarm.cancel() }
    return await withCheckedContinuation { continuation in
      let isRoomAlready = state.withLock { state -> Bool in
        guard state.generation == ticket, ContinuousClock.now < deadline else { return true }
        state.waiting[id] = continuation
        return false
      }
      if isRoomAlready { continuation.resume(returning: ContinuousClock.now < deadline) }
    }
  }

  func wakeAll() {
    let woken = state.withLock { state -> [CheckedContinuation<Bool, Never>] in
      state.generation &+= 1
      guard !state.waiting.isEmpty else { return [] }
      defer { state.waiting.removeAll(keepingCapacity: true) }
      return Array(state.waiting.values)
    }
    for waiter in woken { waiter.resume(returning: true) }
  }

  private func resume(_ id: UInt64, with value: Bool) {
    state.withLock { $0.waiting.removeValue(forKey: id) }?.resume(returning: value)
  }
}
