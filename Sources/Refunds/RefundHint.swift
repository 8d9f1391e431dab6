// What a version 1 notification hints at. It is unsigned: it says whom to ask about, and nothing else is believed.

internal import AppStore
internal import Millrace

/// A transaction that a version 1 notification says is refunded.
struct RefundHint: Sendable, Hashable {
  /// The transaction, or the original one where the body names no other.
  var transactionId: String
  /// When it is said to have been refunded.
  var cancelledAt: Timestamp?
  /// What is said to have been bought.
  var productId: String?

  /// More rows of one purchase refunded in one millisecond are not looked at.
  private static let most = 20

  /// What the body hints at: the rows of its purchase that were refunded last. Rows of other purchases have notifications
  /// of their own. Where no row is refunded, as with the end of family sharing, the one bought last.
  ///
  /// - Parameter key: `originalTransactionId` of the purchase.
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
    // Bodies of 2019 and of one-time purchases may name the original transaction alone.
    return body.original_transaction_id == key && !key.isEmpty
      ? [RefundHint(transactionId: key, cancelledAt: body.cancellationDate)] : []
  }
}

/// How long Apple's answers may be behind what it notifies.
///
/// A notification of version 1 can be there before *Get Transaction Info* knows of the refund: an answer that does not
/// confirm it is asked for again, until it is an hour old.
struct HintPatience: Sendable {
  /// Waits between questions, by how many there were; the last one is repeated.
  var waits: [Duration] = [.seconds(10), .seconds(60), .seconds(600), Self.hour]
  /// How old a notification is when nobody asks any more.
  var time = Self.hour

  private static let hour = Duration.seconds(3_600)

  /// How long to wait after a question at `now`; nil: long enough.
  ///
  /// - Parameter attempt: how many there were before it.
  func wait(after attempt: Int, receivedAt: Timestamp, now: Timestamp) -> Duration? {
    let left = receivedAt + time - now
    guard left > .zero, let last = waits.indices.last else { return nil }
    return min(waits[min(max(0, attempt), last)], left)
  }
}

/// Why a hint stays one.
struct UnconfirmedRefund: Sendable, Hashable {
  /// A stable code.
  enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The app has no credentials for the App Store Server API.
    case noCredentials = "api-not-configured"
    /// The body names no transaction.
    case noTransaction = "no-transaction"
    /// Apple knows no such transaction of this app.
    case notFound = "transaction-not-found"
    /// Apple refuses the question; the event has the code.
    case refused = "apple-refused"
    /// The transaction belongs to another purchase than the body says.
    case anotherPurchase = "another-purchase"
    /// Apple's answer is the transaction as if nothing had happened, and stayed so.
    case notRevoked = "not-revoked"
  }

  /// Why.
  var reason: Reason
  /// Apple's error code.
  var code: Int64?

  /// The event that says so.
  func event(_ type: NotificationTypeV1, of notification: Notification, about hint: RefundHint?) -> EncodedEvent {
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
