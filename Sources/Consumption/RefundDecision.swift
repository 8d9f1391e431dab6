// Apple's decision about a refund, as a notification or the refund history reports it.

internal import AppStore
internal import MillraceWorker

/// A decision about the refund of one transaction.
struct RefundDecision: Sendable, Hashable {
  /// The kind of decision. The raw value is part of events.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Apple refunded the purchase, in full or in part.
    case refunded
    /// Apple declined the customer's request.
    case declined
    /// Apple took back a refund, because the customer disputed the decision.
    case reversed
  }

  var kind: Kind
  /// The notification that reported it.
  var notificationId: String
  var transactionId: String
  /// When Apple decided: the date of the notification's signature, or of the refund if Apple signed no notification.
  var at: Timestamp
  /// Apple's `revocationPercentage`: the refunded part in thousandths of a percent, for a prorated refund.
  var percentage: Int64?

  /// Returns the decisions that a notification reports; none if it is about something else. A version 1 body has all
  /// refunds of the customer, without saying which of them is new. Those of the notification's key count: the ledger of
  /// the lane has only these.
  static func all(in notification: AppStoreNotification) -> [RefundDecision] {
    switch notification.event {
    case .refund: signed(.refunded, notification, at: notification.signedDate)
    case .refundDeclined: signed(.declined, notification, at: notification.signedDate)
    case .refundReversed: signed(.reversed, notification, at: notification.signedDate)
    case .foundRefund: signed(.refunded, notification, at: notification.transaction?.revocationDate)
    case .v1(.refund): version1(notification)
    default: []
    }
  }

  private static func signed(
    _ kind: Kind, _ notification: AppStoreNotification, at time: Timestamp?
  ) -> [RefundDecision] {
    guard let transaction = notification.transaction, let id = transaction.transactionId, let time else { return [] }
    return [
      RefundDecision(
        kind: kind, notificationId: notification.id, transactionId: id, at: time,
        percentage: kind == .refunded ? transaction.revocationPercentage.map { Int64($0) } : nil)
    ]
  }

  private static func version1(_ notification: AppStoreNotification) -> [RefundDecision] {
    guard case .v1(let body) = notification.content else { return [] }
    var seen: Set<String> = []
    return body.receiptRows.compactMap { row in
      guard let id = row.transaction_id, let time = row.cancellationDate,
        (row.original_transaction_id ?? id) == notification.key, seen.insert(id).inserted
      else { return nil }
      return RefundDecision(kind: .refunded, notificationId: notification.id, transactionId: id, at: time)
    }
  }
}
