// State changes without notifications, and access to version 1 bodies. Only this project's own programs and tests use
// them.

package import AppStore
internal import AppStoreSigning

extension WorldState {
  /// Sets the status of a subscription without sending a notification.
  package mutating func lapse(_ original: Int64, to status: Status) {
    subscriptions[original]?.status = status
  }

  /// Records two extensions within a year without sending a notification.
  package mutating func useUpExtensions(_ original: Int64, at now: Timestamp) {
    subscriptions[original]?.extensions = [now - .seconds(40 * 86_400), now - .seconds(20 * 86_400)]
  }

  /// Removes the subscription, so that the API no longer finds it.
  package mutating func forget(_ original: Int64) { subscriptions[original] = nil }

  /// Performs one event on a purchase, chosen by a ten-sided die. A purchase is refunded in full or in part, or its
  /// refund is declined. A refund is reversed. A family-shared purchase is revoked.
  package mutating func throwDice(
    _ dice: Int, of transactionId: Int64, percentage: Int64, at time: Timestamp
  ) throws(WorldError) {
    guard let transaction = transactions[transactionId] else { return }
    switch transaction.revocation?.type {
    case nil where transaction.ownership == .familyShared: try revoke(transactionId, at: time)
    case nil where dice < 3: try declineRefund(transactionId, at: time)
    case nil where dice < 7: try refund(transactionId, at: time)
    case nil: try refund(transactionId, percentage: percentage, at: time)
    case .familyRevoke?: break
    case .some: try reverseRefund(transactionId, at: time)
    }
  }

  /// Returns the bodies that version 1 sends for the same event; empty if it sends none.
  package func bodiesV1(of record: NotificationLogEntry) -> [[UInt8]] {
    guard let subject = subjectV1(of: record) else { return [] }
    return typesV1(of: record.facts).map { subject.body($0) }
  }
}
