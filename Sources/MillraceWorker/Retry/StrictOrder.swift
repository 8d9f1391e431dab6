// `ordering: strict`: while a notification waits, later ones of the same key wait too, in order.
//
// A waiting notification carries the id of the one before it. So the waiting notifications of a key form a chain whose
// links are in the log and whose state is in the ledger. A lane has to remember only the end of each chain. See
// docs/adr/0011-strict-order-is-a-chain-in-the-log.md.

/// The notification that another one has to wait for.
struct Predecessor: Sendable, Hashable {
  /// The id of the notification. The waiting record carries it.
  var id: LedgerKey
  /// The index of its retry topic. The waiting record is appended to the same topic.
  var delayIndex: Int
}

extension Ledger {
  /// Returns the notification that a record has to wait for, or nil if the record may run now.
  ///
  /// - Parameters:
  ///   - id: The id of the record's notification.
  ///   - key: The hash of the record's key.
  ///   - arrival: The way by which the record arrived.
  ///   - behind: The id of the previous notification, if the record carries one.
  ///   - hasPassed: Whether a delayed record with this state would be back by now. Then no record waits for it.
  func predecessor(
    of id: LedgerKey, key: LedgerKey, arriving arrival: Arrival, behind: LedgerKey?,
    hasPassed: (Handled) -> Bool = { _ in false }
  ) -> Predecessor? {
    #if PLANTED_FAULTS
      if PlantedFault.noStrictOrder.isActive { return nil }
    #endif
    let candidate: LedgerKey?
    switch arrival {
    // The record is in the chain already. The head of a chain has no predecessor.
    case .retry: candidate = behind
    // Done and requeued notifications are outside the order: their key was released, and later notifications have run.
    // They are delayed without a `delayIndex`. Otherwise two notifications could wait for each other.
    case .reapply where isDone(id): candidate = nil
    case .requeue: candidate = nil
    // The notification is in the chain, and its copy is gone. Later ones wait for it. Earlier ones are gone too,
    // because retention deletes the oldest records first.
    case .live where isDelayed(id), .replay where isDelayed(id), .reapply where isDelayed(id): candidate = nil
    case .live, .replay, .reapply: candidate = tail(of: key)
    }
    guard let candidate, candidate != id, let before = self[candidate],
      case .delayed(_, let delayIndex?) = before.state,
      !hasPassed(before)
    else { return nil }
    return Predecessor(id: candidate, delayIndex: delayIndex)
  }

  /// Returns the entries to write with a delayed record under strict ordering. A notification without a `delayIndex` is
  /// outside the order: a requeued dead letter stays there until it is done or dead again.
  func entries(delaying id: LedgerKey, key: LedgerKey, as handled: Handled) -> [LedgerEntry] {
    guard case .delayed(_, .some) = handled.state else { return [.handled(id, handled)] }
    // If another notification already waits for this one, the end of the chain does not change.
    if let last = tail(of: key), last != id, isDelayed(last), isDelayed(id) { return [.handled(id, handled)] }
    return [.handled(id, handled), .tail(key, id)]
  }

  /// Returns the entries to write with a notification that is done or dead under strict ordering. Both states release
  /// its key.
  func entries(resolving id: LedgerKey, key: LedgerKey, as handled: Handled) -> [LedgerEntry] {
    tail(of: key) == id ? [.handled(id, handled), .tail(key, nil)] : [.handled(id, handled)]
  }

  private func isDelayed(_ id: LedgerKey) -> Bool {
    if case .delayed? = self[id]?.state { return true }
    return false
  }

  private func isDone(_ id: LedgerKey) -> Bool {
    if case .done? = self[id]?.state { return true }
    return false
  }
}
