// The rows of `appstore.subscriptions` and `appstore.purchases`, which are also the content of events. Their schemas are
// in `topics/schemas`.

internal import AppStore
internal import MillraceWorker

extension Subscription {
  /// The row of a subscription.
  /// - Parameter margin: How long the customer stays entitled after an end that no report has explained.
  func row(_ originalTransactionId: String, of state: SubscriptionState, margin: Duration) -> JSONObject {
    var row = JSONObject()
    row.add("originalTransactionId", originalTransactionId)
    row.add("bundleId", state.bundleId)
    row.add("environment", state.environment?.rawValue)
    row.add("status", status.rawValue)
    row.add("uncertain", uncertainty?.rawValue)
    row.add("entitledUntil", entitledUntil(margin: margin))
    row.add("productId", productId)
    row.add("subscriptionGroupIdentifier", period.subscriptionGroup)
    row.add("expiresDate", period.expiresDate)
    row.add("gracePeriodExpiresDate", gracePeriodExpiresDate)
    if let renews = renewal?.autoRenewStatus { row["autoRenews"] = .bool(renews == .on) }
    row.add("autoRenewProductId", renewal?.productId)
    row.add("renewalPrice", renewal?.price)
    row.add("renewalCurrency", renewal?.price == nil ? nil : renewal?.currency)
    row.add("renewalOffer", renewal?.offer?.json)
    row.add("priceIncrease", renewal?.priceIncrease?.name)
    row.add("commitment", commitment)
    row.add("expirationIntent", renewal?.expirationIntent.map { Int64($0.rawValue) })
    period.add(to: &row)
    row.add("signedDate", statement.signedDate)
    row["cause"] = statement.cause.json
    return row
  }

  /// The commitment and the one after it; nil if there is none.
  private var commitment: JSON? {
    let (present, next) = (period.commitment, renewal?.nextCommitment)
    guard present != nil || next != nil else { return nil }
    var object = JSONObject()
    object.add("billingPlanType", present?.plan?.rawValue)
    object.add("billingPeriod", present?.number)
    object.add("billingPeriods", present?.total)
    object.add("expiresDate", present?.expiresDate)
    object.add("price", present?.price)
    if let renews = next?.autoRenewStatus { object["autoRenews"] = .bool(renews == .on) }
    object.add("autoRenewProductId", next?.productId)
    object.add("renewalBillingPlanType", next?.plan?.rawValue)
    object.add("renewalDate", next?.renewalDate)
    object.add("renewalPrice", next?.price)
    return .object(object)
  }

  /// The time up to which the customer is entitled, unless a report changes it; nil if the customer is not, or for as
  /// long as no report says otherwise.
  func entitledUntil(margin: Duration) -> Timestamp? {
    guard status == .active || status == .gracePeriod else { return nil }
    return end.map { $0 + margin }
  }
}

extension Period {
  /// Adds the members that subscriptions and purchases have in common.
  func add(to row: inout JSONObject) {
    row.add("transactionId", transactionId)
    row.add("purchaseDate", purchaseDate)
    row.add("originalPurchaseDate", originalPurchaseDate)
    row.add("price", price)
    row.add("currency", price == nil ? nil : currency)
    row.add("offer", offer?.json)
    row.add("ownership", ownership?.rawValue)
    row.add("appAccountToken", appAccountToken)
    row.add("appTransactionId", appTransactionId)
    row.add("revocationDate", revocationDate)
    row.add("revocationReason", revocationReason.map { Int64($0.rawValue) })
  }
}

/// The row of a purchase that does not renew.
struct PurchaseRow: Sendable {
  var transaction: JWSTransactionDecodedPayload
  var period: Period
  var cause: Cause

  /// Creates the row; nil if the transaction has no id or no dates.
  /// - Parameter notification: The notification or request that vouches for the app, the environment and the signature
  ///   time that the transaction lacks.
  init?(_ transaction: JWSTransactionDecodedPayload, cause: Cause, in notification: AppStoreNotification) {
    guard let period = Period(transaction, signedBy: notification.signedDate) else { return nil }
    (self.transaction, self.period, self.cause) = (transaction, period, cause)
    if transaction.bundleId == nil { self.transaction.bundleId = notification.bundleId }
    if transaction.environment == nil { self.transaction.environment = notification.environment }
  }

  var json: JSONObject {
    var row = JSONObject()
    row.add("originalTransactionId", transaction.originalTransactionId)
    row.add("bundleId", transaction.bundleId)
    row.add("environment", transaction.environment?.rawValue)
    row["owned"] = .bool(period.revocationDate == nil)
    row.add("productId", period.productId)
    row.add("productType", transaction.type?.rawValue)
    row["quantity"] = .integer(transaction.quantity ?? 1)
    row.add("expiresDate", period.expiresDate)
    period.add(to: &row)
    row.add("signedDate", period.signedDate)
    row["cause"] = cause.json
    return row
  }
}

extension Offer {
  fileprivate var json: JSON {
    var object: JSONObject = ["type": .integer(Int64(type.rawValue))]
    object.add("identifier", identifier)
    object.add("discountType", discountType?.rawValue)
    return .object(object)
  }
}

extension Cause {
  fileprivate var json: JSON {
    var object = JSONObject()
    switch kind {
    case .notification(let type, let subtype):
      object.add("kind", "notification")
      object.add("notificationType", type?.rawValue)
      object.add("subtype", subtype?.rawValue)
    case .answer: object.add("kind", "answer")
    case .imported: object.add("kind", "import")
    }
    object.add("id", id)
    return .object(object)
  }
}

extension PriceIncreaseStatus {
  fileprivate var name: String {
    switch self {
    case .customerHasNotResponded: "pending"
    case .customerConsentedOrWasNotifiedWithoutNeedingConsent: "accepted"
    default: "\(rawValue)"
    }
  }
}

extension JSONObject {
  fileprivate mutating func add(_ name: String, _ value: JSON?) { if let value { self[name] = value } }
  fileprivate mutating func add(_ name: String, _ text: String?) { add(name, text.map { JSON.string($0) }) }
  fileprivate mutating func add(_ name: String, _ time: Timestamp?) { add(name, time?.rfc3339) }
  fileprivate mutating func add(_ name: String, _ number: Int64?) { add(name, number.map { JSON.integer($0) }) }
}
