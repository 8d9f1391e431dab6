// The signed information about the next renewal of a subscription.

/// The payload of signed renewal info (App Store Server API, `JWSRenewalInfoDecodedPayload`). It has no bundle
/// identifier. Prices are in thousandths of the currency.
public struct JWSRenewalInfoDecodedPayload: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The reason the subscription expired.
  public var expirationIntent: ExpirationIntent? {
    get { self["expirationIntent"] }
    set { self["expirationIntent"] = newValue }
  }

  /// The first transaction of the subscription.
  public var originalTransactionId: String? {
    get { self["originalTransactionId"] }
    set { self["originalTransactionId"] = newValue }
  }

  /// The product that renews next.
  public var autoRenewProductId: String? {
    get { self["autoRenewProductId"] }
    set { self["autoRenewProductId"] = newValue }
  }

  /// The product of the current period.
  public var productId: String? {
    get { self["productId"] }
    set { self["productId"] = newValue }
  }

  /// Whether it will renew.
  public var autoRenewStatus: AutoRenewStatus? {
    get { self["autoRenewStatus"] }
    set { self["autoRenewStatus"] = newValue }
  }

  /// Whether the App Store is trying to renew an expired subscription.
  public var isInBillingRetryPeriod: Bool? {
    get { self["isInBillingRetryPeriod"] }
    set { self["isInBillingRetryPeriod"] = newValue }
  }

  /// The customer's response to a price increase.
  public var priceIncreaseStatus: PriceIncreaseStatus? {
    get { self["priceIncreaseStatus"] }
    set { self["priceIncreaseStatus"] = newValue }
  }

  /// The time at which the billing grace period ends.
  public var gracePeriodExpiresDate: Timestamp? {
    get { self["gracePeriodExpiresDate"] }
    set { self["gracePeriodExpiresDate"] = newValue }
  }

  /// The type of the offer that applies next.
  public var offerType: OfferType? {
    get { self["offerType"] }
    set { self["offerType"] = newValue }
  }

  /// The offer that applies next.
  public var offerIdentifier: String? {
    get { self["offerIdentifier"] }
    set { self["offerIdentifier"] = newValue }
  }

  /// The time at which Apple signed this information.
  public var signedDate: Timestamp? {
    get { self["signedDate"] }
    set { self["signedDate"] = newValue }
  }

  /// The environment of the purchase; absent in January 2022.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The start of the current series of periods without a gap of more than 60 days.
  public var recentSubscriptionStartDate: Timestamp? {
    get { self["recentSubscriptionStartDate"] }
    set { self["recentSubscriptionStartDate"] = newValue }
  }

  /// The time at which the next renewal is due.
  public var renewalDate: Timestamp? {
    get { self["renewalDate"] }
    set { self["renewalDate"] = newValue }
  }

  /// The currency of ``renewalPrice``, ISO 4217.
  public var currency: String? {
    get { self["currency"] }
    set { self["currency"] = newValue }
  }

  /// The price of the next period in thousandths of the currency.
  public var renewalPrice: Int64? {
    get { self["renewalPrice"] }
    set { self["renewalPrice"] = newValue }
  }

  /// The payment mode of the next offer.
  public var offerDiscountType: OfferDiscountType? {
    get { self["offerDiscountType"] }
    set { self["offerDiscountType"] = newValue }
  }

  /// The win-back offers that the customer is eligible for.
  public var eligibleWinBackOfferIds: [String]? {
    get { self["eligibleWinBackOfferIds"] }
    set { self["eligibleWinBackOfferIds"] = newValue }
  }

  /// The account that the app set at the purchase, a UUID.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// The app transaction of the customer.
  public var appTransactionId: String? {
    get { self["appTransactionId"] }
    set { self["appTransactionId"] = newValue }
  }

  /// The length of the next offer, ISO 8601.
  public var offerPeriod: String? {
    get { self["offerPeriod"] }
    set { self["offerPeriod"] = newValue }
  }

  /// The items of an Advanced Commerce subscription.
  public var advancedCommerceInfo: AdvancedCommerceRenewalInfo? {
    get { self["advancedCommerceInfo"] }
    set { self["advancedCommerceInfo"] = newValue }
  }

  /// The next commitment.
  public var commitmentInfo: RenewalCommitmentInfo? {
    get { self["commitmentInfo"] }
    set { self["commitmentInfo"] = newValue }
  }

  /// The billing plan of the next commitment.
  public var renewalBillingPlanType: RenewalBillingPlanType? {
    get { self["renewalBillingPlanType"] }
    set { self["renewalBillingPlanType"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("expirationIntent", \.expirationIntent),
    DocumentedField("originalTransactionId", \.originalTransactionId),
    DocumentedField("autoRenewProductId", \.autoRenewProductId),
    DocumentedField("productId", \.productId),
    DocumentedField("autoRenewStatus", \.autoRenewStatus),
    DocumentedField("isInBillingRetryPeriod", \.isInBillingRetryPeriod),
    DocumentedField("priceIncreaseStatus", \.priceIncreaseStatus),
    DocumentedField("gracePeriodExpiresDate", \.gracePeriodExpiresDate),
    DocumentedField("offerType", \.offerType),
    DocumentedField("offerIdentifier", \.offerIdentifier),
    DocumentedField("signedDate", \.signedDate),
    DocumentedField("environment", \.environment),
    DocumentedField("recentSubscriptionStartDate", \.recentSubscriptionStartDate),
    DocumentedField("renewalDate", \.renewalDate),
    DocumentedField("currency", \.currency),
    DocumentedField("renewalPrice", \.renewalPrice),
    DocumentedField("offerDiscountType", \.offerDiscountType),
    DocumentedField("eligibleWinBackOfferIds", \.eligibleWinBackOfferIds),
    DocumentedField("appAccountToken", \.appAccountToken),
    DocumentedField("appTransactionId", \.appTransactionId),
    DocumentedField("offerPeriod", \.offerPeriod),
    DocumentedField("advancedCommerceInfo", \.advancedCommerceInfo),
    DocumentedField("commitmentInfo", \.commitmentInfo),
    DocumentedField("renewalBillingPlanType", \.renewalBillingPlanType),
  ]
}
