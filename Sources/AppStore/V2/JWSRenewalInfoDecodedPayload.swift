// What the App Store knows of the next renewal of a subscription.

/// The payload of signed renewal information (App Store Server API, `JWSRenewalInfoDecodedPayload`). It names no
/// bundle. Prices are in thousandths of the currency.
public struct JWSRenewalInfoDecodedPayload: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Why the subscription expired.
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

  /// The product of the present period.
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

  /// What the customer said to a price increase.
  public var priceIncreaseStatus: PriceIncreaseStatus? {
    get { self["priceIncreaseStatus"] }
    set { self["priceIncreaseStatus"] = newValue }
  }

  /// When the billing grace period ends.
  public var gracePeriodExpiresDate: Timestamp? {
    get { self["gracePeriodExpiresDate"] }
    set { self["gracePeriodExpiresDate"] = newValue }
  }

  /// The kind of offer that applies next.
  public var offerType: OfferType? {
    get { self["offerType"] }
    set { self["offerType"] = newValue }
  }

  /// The offer that applies next.
  public var offerIdentifier: String? {
    get { self["offerIdentifier"] }
    set { self["offerIdentifier"] = newValue }
  }

  /// When Apple signed this information.
  public var signedDate: Timestamp? {
    get { self["signedDate"] }
    set { self["signedDate"] = newValue }
  }

  /// Where the purchase was made; absent in January 2022.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The start of the present series of periods without a gap of more than 60 days.
  public var recentSubscriptionStartDate: Timestamp? {
    get { self["recentSubscriptionStartDate"] }
    set { self["recentSubscriptionStartDate"] = newValue }
  }

  /// When the next renewal is due.
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

  /// How the next offer is paid.
  public var offerDiscountType: OfferDiscountType? {
    get { self["offerDiscountType"] }
    set { self["offerDiscountType"] = newValue }
  }

  /// The win-back offers that the customer may take.
  public var eligibleWinBackOfferIds: [String]? {
    get { self["eligibleWinBackOfferIds"] }
    set { self["eligibleWinBackOfferIds"] = newValue }
  }

  /// The account that the app named at the purchase, a UUID.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// The app transaction of the customer.
  public var appTransactionId: String? {
    get { self["appTransactionId"] }
    set { self["appTransactionId"] = newValue }
  }

  /// How long the next offer lasts, ISO 8601.
  public var offerPeriod: String? {
    get { self["offerPeriod"] }
    set { self["offerPeriod"] = newValue }
  }

  /// The items of an Advanced Commerce subscription.
  public var advancedCommerceInfo: AdvancedCommerceRenewalInfo? {
    get { self["advancedCommerceInfo"] }
    set { self["advancedCommerceInfo"] = newValue }
  }

  /// The commitment that follows.
  public var commitmentInfo: RenewalCommitmentInfo? {
    get { self["commitmentInfo"] }
    set { self["commitmentInfo"] = newValue }
  }

  /// How the next commitment is billed.
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
