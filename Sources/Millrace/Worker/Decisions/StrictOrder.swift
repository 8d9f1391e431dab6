// `ordering: strict`: while a notification waits, those behind it of the same key wait too, in order.
//
// Each that waits behind another carries the id of the one before it, so the waiting ones of a key are a chain whose
// links are in the log and whose state is in the ledger. All a lane has to remember is the end of each chain. See
// docs/adr/0011-strict-order-is-a-chain-in-the-log.md.

/// The notification that another has to wait for.
struct Predecessor: Sendable, Hashable {
  /// Its id; the waiting record carries it.
  var id: LedgerKey
  /// The tier it waits on; the waiting record is appended to the same, behind it.
  var tier: Int
}

extension Ledger {
  /// What a record has to wait for; nil where it may run now.
  ///
  /// - Parameters:
  ///   - id: Its notification.
  ///   - key: Its record key, hashed.
  ///   - arrival: How it came.
  ///   - behind: The id it carries of the one before it, when it was appended behind one.
  ///   - hasPassed: Whether what was parked so would have come back by now; nobody waits for it then.
  func predecessor(
    of id: LedgerKey, key: LedgerKey, arriving arrival: Arrival, behind: LedgerKey?,
    hasPassed: (Handled) -> Bool = { _ in false }
  ) -> Predecessor? {
    let candidate: LedgerKey?
    switch arrival {
    // It has its place in the chain already; the head of a chain has nobody before it.
    case .retry: candidate = behind
    // What is done or was dead stands outside the order: its key was released, and those behind it went on. It is
    // parked without a tier. Were it waited for again, one that waits behind it and one it waits behind could be the
    // same.
    case .reapply where isDone(id): candidate = nil
    case .requeue: candidate = nil
    // It has its place in the chain, and its copy is gone: those behind it wait for it, and what was before it went with
    // it, for retention takes the oldest first.
    case .live where isParked(id), .replay where isParked(id), .reapply where isParked(id): candidate = nil
    case .live, .replay, .reapply: candidate = tail(of: key)
    }
    guard let candidate, candidate != id, let before = self[candidate], case .parked(_, let tier?) = before.state,
      !hasPassed(before)
    else { return nil }
    return Predecessor(id: candidate, tier: tier)
  }

  /// The entries that go with a parked record under strict order. Without a tier it stands outside the order: a
  /// requeued dead letter, on every tier until it is done or dead again.
  func entries(parking id: LedgerKey, key: LedgerKey, as handled: Handled) -> [LedgerEntry] {
    guard case .parked(_, .some) = handled.state else { return [.handled(id, handled)] }
    // Somebody waits behind it already: then the chain's end stays what it is.
    if let last = tail(of: key), last != id, isParked(last), isParked(id) { return [.handled(id, handled)] }
    return [.handled(id, handled), .tail(key, id)]
  }

  /// The entries that go with a notification that is done or dead under strict order: both release its key.
  func entries(resolving id: LedgerKey, key: LedgerKey, as handled: Handled) -> [LedgerEntry] {
    tail(of: key) == id ? [.handled(id, handled), .tail(key, nil)] : [.handled(id, handled)]
  }

  private func isParked(_ id: LedgerKey) -> Bool {
    if case .parked? = self[id]?.state { return true }
    return false
  }

  private func isDone(_ id: LedgerKey) -> Bool {
    if case .done? = self[id]?.state { return true }
    return false
  }
}
