// Ends the waits of senders at their deadlines. A timer for each send cost more than the send itself.

internal import Synchronization

/// The sends of a client that wait until a deadline. While there are any, one task looks at all of them every 20 ms, so
/// a wait ends at most that much after its deadline.
final class SendDeadlines: Sendable {
  /// The time between two looks.
  static let period = Duration.milliseconds(20)

  private struct State {
    var sends: [ObjectIdentifier: (send: PendingDelivery, deadline: ContinuousClock.Instant)] = [:]
    var isWatched = false
  }

  private let state = Mutex(State())

  /// Registers a send. Its end has to be reported with ``remove(_:)``.
  func add(_ send: PendingDelivery, until deadline: ContinuousClock.Instant) {
    let isFirst = state.withLock { state in
      state.sends[ObjectIdentifier(send)] = (send, deadline)
      defer { state.isWatched = true }
      return !state.isWatched
    }
    // The task ends by itself when no send is left.
    if isFirst { Task { await watch() } }
  }

  /// Removes a send that has ended.
  func remove(_ send: PendingDelivery) {
    state.withLock { state in
      state.sends[ObjectIdentifier(send)] = nil
    }
  }

  /// The number of sends that wait.
  var count: Int { state.withLock { $0.sends.count } }

  private func watch() async {
    while let expired = takeExpired() {
      for send in expired { send.expire() }
      // The task is never cancelled, so the sleep does not fail.
      try? await Task.sleep(for: Self.period, clock: .continuous)
    }
  }

  /// Returns the sends whose deadline has passed; nil if no send is left, which ends the watch.
  private func takeExpired() -> [PendingDelivery]? {
    state.withLock { state in
      guard !state.sends.isEmpty else {
        state.isWatched = false
        return nil
      }
      let now = ContinuousClock.now
      let expired = state.sends.values.filter { $0.deadline <= now }.map(\.send)
      for send in expired { state.sends[ObjectIdentifier(send)] = nil }
      return expired
    }
  }
}
