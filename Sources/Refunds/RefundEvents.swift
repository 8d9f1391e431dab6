// The worker's events and the rows of its table, as JSON with schemas in `topics/schemas/`. Each describes one
// transaction, not the subscription to which it may belong.

internal import AppStore
internal import MillraceWorker

enum RefundEvent: String, Sendable, CaseIterable {
  case revoked = "entitlement.revoked"
  case reinstated = "entitlement.reinstated"
  case declined = "refund.declined"
  case unconfirmed = "refund.unconfirmed"
}

/// The source of a fact, as named in events and rows.
enum RefundSource: String, Sendable, CaseIterable {
  /// A version 2 notification.
  case notification
  /// *Get Transaction Info*, called because of a version 1 notification.
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

/// The description of a transaction in events and rows.
struct PurchaseFacts: Sendable {
  let transaction: JWSTransactionDecodedPayload

  init(_ transaction: JWSTransactionDecodedPayload) { self.transaction = transaction }

  /// Creates the facts of a transaction. The notification vouches for the app and the environment that the transaction
  /// lacks.
  init(_ transaction: JWSTransactionDecodedPayload, in notification: AppStoreNotification) {
    var transaction = transaction
    if transaction.bundleId == nil { transaction.bundleId = notification.bundleId }
    if transaction.environment == nil { transaction.environment = notification.environment }
    self.init(transaction)
  }

  /// Apple's fields from which ``members`` and ``Revocation`` are derived, unchanged. The ledger stores them for a
  /// response.
  var essence: JSONObject {
    JSONObject(transaction.json.members.filter { Self.fields.contains($0.key) })
  }

  private static let fields: Set<String> = [
    "transactionId", "originalTransactionId", "bundleId", "environment", "productId", "type", "quantity",
    "inAppOwnershipType", "appAccountToken", "purchaseDate", "expiresDate", "signedDate", "revocationDate",
    "revocationType", "revocationPercentage", "revocationReason",
  ]

  /// The members that identify the transaction and its product.
  var members: [JSONObject.Member] {
    let members: [(String, JSON?)] = [
      ("transactionId", transaction.transactionId.map { .string($0) }),
      ("originalTransactionId", transaction.originalTransactionId.map { .string($0) }),
      ("bundleId", transaction.bundleId.map { .string($0) }),
      ("environment", transaction.environment.map { .string($0.rawValue) }),
      ("productId", transaction.productId.map { .string($0) }),
      ("productType", transaction.type.map { .string($0.rawValue) }),
      // Apple omits the quantity of some transactions; it is 1 then.
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
  /// The JSON in events and rows.
  var json: JSON {
    var object: JSONObject = ["type": .string(kind.rawValue), "date": .string(date.rfc3339)]
    if let percentage { object["percentage"] = .integer(percentage) }
    if let reason { object["reason"] = .integer(reason) }
    return .object(object)
  }
}

extension EntitlementFact {
  func event(_ event: RefundEvent, about purchase: PurchaseFacts, revocation: Revocation? = nil) -> EncodedEvent {
    var object = JSONObject(purchase.members)
    if let revocation { object["revocation"] = revocation.json }
    append(to: &object)
    return EncodedEvent(name: event.rawValue, data: object.serialized())
  }

  /// Creates the row with the present state.
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
