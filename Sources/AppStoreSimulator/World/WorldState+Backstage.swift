// What a rehearsal does behind everybody's back, and the other version's word for what is told: for this project's own
// programs and tests.

package import AppStore
internal import AppStoreSigning

extension WorldState {
  /// A subscription ends, or billing refuses its renewal, and nobody is told.
  package mutating func lapse(_ original: Int64, to status: Status) {
    subscriptions[original]?.status = status
  }

  /// Somebody has extended the renewal date twice within a year, and nobody was told.
  package mutating func useUpExtensions(_ original: Int64, at now: Timestamp) {
    subscriptions[original]?.extensions = [now - .seconds(40 * 86_400), now - .seconds(20 * 86_400)]
  }

  /// The API does not know the subscription any more.
  package mutating func forget(_ original: Int64) { subscriptions[original] = nil }

  /// Lets one thing happen to a purchase, by a die with ten sides: it is paid back, whole or in part, or not, or what was
  /// paid back is taken again; what a family shared is shared no more.
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

  /// What version 1 would have posted of the same event; none where it tells nothing.
  package func bodiesV1(of record: NotificationRecord) -> [[UInt8]] {
    guard let subject = subjectV1(of: record) else { return [] }
    return typesV1(of: record.facts).map { subject.body($0) }
  }
}
