// The payload of `signedTransactionInfo`, in Apple's order. The samples and the simulator provide its values.
package import AppStore

/// The members of a transaction; nil if Apple omits one.
package struct TransactionPayload {
  package var transactionId: String
  package var originalTransactionId: String
  package var webOrderLineItemId: String?
  package var bundleId: String
  package var productId: String
  package var subscriptionGroupIdentifier: String?
  package var purchaseDate: Timestamp
  package var originalPurchaseDate: Timestamp
  package var expiresDate: Timestamp?
  package var quantity: Int64 = 1
  package var type: ProductType
  package var appAccountToken: String?
  package var ownership: InAppOwnershipType
  package var signedDate: Timestamp
  package var revocation: RevocationClaims?
  package var isUpgraded = false
  package var offer: OfferPayload?
  package var environment: AppStoreEnvironment
  package var reason: TransactionReason
  package var storefront: String
  package var storefrontId: String
  package var price: Int64
  package var currency: String
  package var appTransactionId: String
  package var advancedCommerceInfo: JSONObject?
  package var billingPlanType: BillingPlanType?
  package var commitmentInfo: TransactionCommitmentInfo?

  /// A refund or the end of Family Sharing.
  package struct RevocationClaims: Sendable, Hashable {
    package var date: Timestamp
    package var reason: RevocationReason
    package var type: RevocationType
    /// The refunded percentage in milliunits; nil if nothing is refunded.
    package var percentage: Int64?

    package init(date: Timestamp, reason: RevocationReason, type: RevocationType, percentage: Int64?) {
      self.date = date
      self.reason = reason
      self.type = type
      self.percentage = percentage
    }
  }

  package init(
    transactionId: String, originalTransactionId: String, bundleId: String, productId: String,
    purchaseDate: Timestamp, originalPurchaseDate: Timestamp, type: ProductType, ownership: InAppOwnershipType,
    signedDate: Timestamp, environment: AppStoreEnvironment, reason: TransactionReason, storefront: String = "USA",
    storefrontId: String = "143441", price: Int64, currency: String = "USD", appTransactionId: String
  ) {
    self.transactionId = transactionId
    self.originalTransactionId = originalTransactionId
    self.bundleId = bundleId
    self.productId = productId
    self.purchaseDate = purchaseDate
    self.originalPurchaseDate = originalPurchaseDate
    self.type = type
    self.ownership = ownership
    self.signedDate = signedDate
    self.environment = environment
    self.reason = reason
    self.storefront = storefront
    self.storefrontId = storefrontId
    self.price = price
    self.currency = currency
    self.appTransactionId = appTransactionId
  }

  package var json: JSONObject {
    JSONObject(ordered: [
      "transactionId": .string(transactionId),
      "originalTransactionId": .string(originalTransactionId),
      "webOrderLineItemId": webOrderLineItemId.map { .string($0) },
      "bundleId": .string(bundleId),
      "productId": .string(productId),
      "subscriptionGroupIdentifier": subscriptionGroupIdentifier.map { .string($0) },
      "purchaseDate": .date(purchaseDate),
      "originalPurchaseDate": .date(originalPurchaseDate),
      "expiresDate": expiresDate.map { .date($0) },
      "quantity": .integer(quantity),
      "type": type.jsonValue,
      "appAccountToken": appAccountToken.map { .string($0) },
      "inAppOwnershipType": ownership.jsonValue,
      "signedDate": .date(signedDate),
      "revocationReason": revocation?.reason.jsonValue,
      "revocationDate": revocation.map { .date($0.date) },
      "isUpgraded": isUpgraded ? true : nil,
      "offerType": offer?.type.jsonValue,
      "offerIdentifier": offer?.identifier.map { .string($0) },
      "environment": environment.jsonValue,
      "transactionReason": reason.jsonValue,
      "storefront": .string(storefront),
      "storefrontId": .string(storefrontId),
      "price": .integer(price),
      "currency": .string(currency),
      "offerDiscountType": offer?.discountType?.jsonValue,
      "appTransactionId": .string(appTransactionId),
      "offerPeriod": offer?.period.map { .string($0) },
      "revocationType": revocation?.type.jsonValue,
      "revocationPercentage": revocation?.percentage.map { .integer($0) },
      "advancedCommerceInfo": advancedCommerceInfo.map { .object($0) },
      "billingPlanType": billingPlanType?.jsonValue,
      "commitmentInfo": commitmentInfo.map { .object($0.json) },
    ])
  }
}

/// The members that an offer adds to a transaction or to renewal info.
package struct OfferPayload: Sendable, Hashable {
  package var type: OfferType
  package var identifier: String?
  package var discountType: OfferDiscountType?
  /// The period, an ISO 8601 duration.
  package var period: String?

  package init(type: OfferType, identifier: String?, discountType: OfferDiscountType?, period: String? = nil) {
    self.type = type
    self.identifier = identifier
    self.discountType = discountType
    self.period = period
  }
}
