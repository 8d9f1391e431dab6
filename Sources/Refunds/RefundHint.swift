// Hints from version 1 notifications. They are unsigned, so the worker uses them only to choose a transaction to ask
// Apple about.

internal import AppStore
internal import MillraceWorker

/// A transaction that is refunded according to a version 1 notification.
struct RefundHint: Sendable, Hashable {
  /// The transaction, or the original one if the body names no other.
  var transactionId: String
  /// The time of the refund according to the body.
  var cancelledAt: Timestamp?
  /// The product according to the body.
  var productId: String?

  /// The largest number of rows of one purchase that were refunded in the same millisecond. Further rows are ignored.
  private static let most = 20

  /// Returns the purchase's rows with the latest refund date. Other purchases in the body have their own notifications.
  /// If no row is refunded, as at the end of family sharing, returns the row with the latest purchase.
  ///
  /// - Parameter key: The purchase's `originalTransactionId`.
  static func all(in body: ResponseBodyV1, key: String) -> [RefundHint] {
    let rows = body.receiptRows.filter { $0.original_transaction_id == key && $0.transaction_id?.isEmpty == false }
    let last = rows.compactMap(\.cancellationDate).max()
    let chosen =
      last == nil
      ? rows.max { ($0.purchaseDate?.millisecondsSince1970 ?? 0) < ($1.purchaseDate?.millisecondsSince1970 ?? 0) }
        .map { [$0] } ?? []
      : rows.filter { $0.cancellationDate == last }
    var seen: Set<String> = []
    let hints = chosen.compactMap { row -> RefundHint? in
      guard let id = row.transaction_id, seen.insert(id).inserted else { return nil }
      return RefundHint(transactionId: id, cancelledAt: last, productId: row.product_id)
    }
    guard hints.isEmpty else { return Array(hints.sorted { $0.transactionId < $1.transactionId }.prefix(most)) }
    // Bodies from 2019 and for one-time purchases may name only the original transaction.
    return body.original_transaction_id == key && !key.isEmpty
      ? [RefundHint(transactionId: key, cancelledAt: body.cancellationDate)] : []
  }
}

/// The retry schedule for responses that do not confirm a hint yet.
///
/// A version 1 notification can arrive before *Get Transaction Info* knows the refund or the transaction (`4040010`).
/// The worker repeats the call until the notification is an hour old.
struct HintPatience: Sendable {
  /// The delays between calls, in order; the last one repeats.
  var waits: [Duration] = [.seconds(10), .seconds(60), .seconds(600), Self.hour]
  /// The age of a notification from which the worker makes no further call.
  var time = Self.hour

  private static let hour = Duration.seconds(3_600)

  /// Returns the delay after a call at `now`; nil if the notification is too old.
  ///
  /// - Parameter attempt: The number of calls before it.
  func wait(after attempt: Int, receivedAt: Timestamp, now: Timestamp) -> Duration? {
    let left = receivedAt + time - now
    guard left > .zero, let last = waits.indices.last else { return nil }
    return min(waits[min(max(0, attempt), last)], left)
  }
}

/// A hint that Apple did not confirm.
struct UnconfirmedRefund: Sendable, Hashable {
  /// The stable code of the reason.
  enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The app has no credentials for the App Store Server API.
    case noCredentials = "api-not-configured"
    /// The body names no transaction.
    case noTransaction = "no-transaction"
    /// Apple knows no such transaction of this app, even after the retries.
    case notFound = "transaction-not-found"
    /// Apple rejects the call. The event has the code.
    case refused = "apple-refused"
    /// The transaction belongs to a different purchase than the body says.
    case anotherPurchase = "another-purchase"
    /// Apple returns the transaction without a revocation, even after the retries.
    case notRevoked = "not-revoked"
  }

  var reason: Reason
  /// Apple's error code.
  var code: Int64?

  func event(_ type: NotificationTypeV1, of notification: AppStoreNotification, about hint: RefundHint?) -> EncodedEvent
  {
    let members: [(String, JSON?)] = [
      ("notificationType", .string(type.rawValue)),
      ("bundleId", notification.bundleId.map { .string($0) }),
      ("environment", notification.namedEnvironment.map { .string($0.rawValue) }),
      ("originalTransactionId", notification.key == notification.id ? nil : .string(notification.key)),
      ("transactionId", (hint?.transactionId).map { .string($0) }),
      ("productId", (hint?.productId).map { .string($0) }),
      ("cancellationDate", (hint?.cancelledAt).map { .string($0.rfc3339) }),
      ("reason", .string(reason.rawValue)),
      ("appleErrorCode", code.map { .integer($0) }),
    ]
    let object = JSONObject(members.compactMap { name, value in value.map { .init(key: name, value: $0) } })
    return EncodedEvent(name: RefundEvent.unconfirmed.rawValue, data: object.serialized())
  }
}
