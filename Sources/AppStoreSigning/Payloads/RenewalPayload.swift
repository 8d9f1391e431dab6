// The payload of `signedRenewalInfo`, in Apple's order.
package import AppStore

/// The members of renewal info; nil if Apple omits one.
package struct RenewalPayload {
  package var expirationIntent: ExpirationIntent?
  package var originalTransactionId: String
  package var autoRenewProductId: String
  package var productId: String
  package var autoRenewStatus: AutoRenewStatus
  package var isInBillingRetryPeriod: Bool?
  package var priceIncreaseStatus: PriceIncreaseStatus?
  package var gracePeriodExpiresDate: Timestamp?
  package var offer: OfferPayload?
  /// The price in milliunits and its currency; nil if the subscription does not renew.
  package var renewalPrice: (amount: Int64, currency: String)?
  package var signedDate: Timestamp
  package var environment: AppStoreEnvironment
  package var recentSubscriptionStartDate: Timestamp
  package var renewalDate: Timestamp
  package var appTransactionId: String
  package var appAccountToken: String?
  package var advancedCommerceInfo: JSONObject?
  /// The win-back offers, the best first; nil if there are none.
  package var eligibleWinBackOfferIds: [String]?
  package var commitmentInfo: RenewalCommitmentInfo?
  package var renewalBillingPlanType: RenewalBillingPlanType?

  package init(
    originalTransactionId: String, autoRenewProductId: String, productId: String, autoRenewStatus: AutoRenewStatus,
    signedDate: Timestamp, environment: AppStoreEnvironment, recentSubscriptionStartDate: Timestamp,
    renewalDate: Timestamp, appTransactionId: String
  ) {
    self.originalTransactionId = originalTransactionId
    self.autoRenewProductId = autoRenewProductId
    self.productId = productId
    self.autoRenewStatus = autoRenewStatus
    self.signedDate = signedDate
    self.environment = environment
    self.recentSubscriptionStartDate = recentSubscriptionStartDate
    self.renewalDate = renewalDate
    self.appTransactionId = appTransactionId
  }

  package var json: JSONObject {
    JSONObject(ordered: [
      "expirationIntent": expirationIntent?.jsonValue,
      "originalTransactionId": .string(originalTransactionId),
      "autoRenewProductId": .string(autoRenewProductId),
      "productId": .string(productId),
      "autoRenewStatus": autoRenewStatus.jsonValue,
      "isInBillingRetryPeriod": isInBillingRetryPeriod.map { .bool($0) },
      "priceIncreaseStatus": priceIncreaseStatus?.jsonValue,
      "gracePeriodExpiresDate": gracePeriodExpiresDate.map { .date($0) },
      "offerType": offer?.type.jsonValue,
      "offerIdentifier": offer?.identifier.map { .string($0) },
      "renewalPrice": renewalPrice.map { .integer($0.amount) },
      "currency": renewalPrice.map { .string($0.currency) },
      "signedDate": .date(signedDate),
      "environment": environment.jsonValue,
      "recentSubscriptionStartDate": .date(recentSubscriptionStartDate),
      "renewalDate": .date(renewalDate),
      "offerDiscountType": offer?.discountType?.jsonValue,
      "eligibleWinBackOfferIds": eligibleWinBackOfferIds?.jsonValue,
      "appTransactionId": .string(appTransactionId),
      "offerPeriod": offer?.period.map { .string($0) },
      "appAccountToken": appAccountToken.map { .string($0) },
      "advancedCommerceInfo": advancedCommerceInfo.map { .object($0) },
      "commitmentInfo": commitmentInfo.map { .object($0.json) },
      "renewalBillingPlanType": renewalBillingPlanType?.jsonValue,
    ])
  }
}
