// What the worker tells the world, and the row of the table: JSON whose schemas are in `topics/schemas/`. All of it is
// about one transaction; nothing says anything about the subscription that the transaction may belong to.

internal import AppStore
internal import Millrace

/// The events by name.
enum RefundEvent: String, Sendable, CaseIterable {
  case revoked = "entitlement.revoked"
  case reinstated = "entitlement.reinstated"
  case declined = "refund.declined"
  case unconfirmed = "refund.unconfirmed"
}

/// How Apple said it, as events and rows name it.
enum RefundSource: String, Sendable, CaseIterable {
  /// A version 2 notification.
  case notification
  /// *Get Transaction Info*, asked because of a version 1 notification.
  case transactionInfo = "transaction-info"
  /// *Get Refund History*.
  case refundHistory = "refund-history"

  init(_ kind: EntitlementFact.Kind) {
    self =
      switch kind {
      case .refund, .revoke, .declined, .reversed: .notification
      case .confirmed, .unfounded: .transactionInfo
      case .found: .refundHistory
      }
  }
}

/// A transaction as events and rows describe it.
struct PurchaseFacts: Sendable {
  let transaction: JWSTransactionDecodedPayload

  init(_ transaction: JWSTransactionDecodedPayload) { self.transaction = transaction }

  /// The fields of Apple's that ``members`` and ``Revocation`` are made of, as Apple signed them: what is worth keeping of
  /// an answer.
  var essence: JSONObject {
    JSONObject(transaction.json.members.filter { Self.fields.contains($0.key) })
  }

  private static let fields: Set<String> = [
    "transactionId", "originalTransactionId", "bundleId", "environment", "productId", "type", "quantity",
    "inAppOwnershipType", "appAccountToken", "purchaseDate", "expiresDate", "signedDate", "revocationDate",
    "revocationType", "revocationPercentage", "revocationReason",
  ]

  /// Which transaction of what.
  var members: [JSONObject.Member] {
    let members: [(String, JSON?)] = [
      ("transactionId", transaction.transactionId.map { .string($0) }),
      ("originalTransactionId", transaction.originalTransactionId.map { .string($0) }),
      ("bundleId", transaction.bundleId.map { .string($0) }),
      ("environment", transaction.environment.map { .string($0.rawValue) }),
      ("productId", transaction.productId.map { .string($0) }),
      ("productType", transaction.type.map { .string($0.rawValue) }),
      // Apple leaves it out of some transactions; then it is one.
      ("quantity", .integer(transaction.quantity ?? 1)),
      ("ownership", transaction.inAppOwnershipType.map { .string($0.rawValue) }),
      ("appAccountToken", transaction.appAccountToken.map { .string($0) }),
      ("purchaseDate", transaction.purchaseDate.map { .string($0.rfc3339) }),
      ("expiresDate", transaction.expiresDate.map { .string($0.rfc3339) }),
    ]
    return members.compactMap { name, value in value.map { .init(key: name, value: $0) } }
  }
}

extension Revocation {
  /// As events and rows say it.
  var json: JSON {
    var object: JSONObject = ["type": .string(kind.rawValue), "date": .string(date.rfc3339)]
    if let percentage { object["percentage"] = .integer(percentage) }
    if let reason { object["reason"] = .integer(reason) }
    return .object(object)
  }
}

extension EntitlementFact {
  /// The event of that name about this fact.
  func event(_ event: RefundEvent, about purchase: PurchaseFacts, revocation: Revocation? = nil) -> EncodedEvent {
    var object = JSONObject(purchase.members)
    if let revocation { object["revocation"] = revocation.json }
    append(to: &object)
    return EncodedEvent(name: event.rawValue, data: object.serialized())
  }

  /// The row that says what is so.
  func row(about purchase: PurchaseFacts, id transactionId: String) -> OutputRecord {
    var object = JSONObject(purchase.members)
    object["revoked"] = .bool(revocation != nil)
    if let revocation { object["revocation"] = revocation.json }
    append(to: &object)
    object["notificationId"] = .string(id)
    return OutputRecord(topic: RefundsWorker.entitlementsTopic, key: transactionId, value: object.serialized())
  }

  private func append(to object: inout JSONObject) {
    object["signedDate"] = .string(signedDate.rfc3339)
    object["source"] = .string(RefundSource(kind).rawValue)
  }
}
