// A signed transaction.

/// The payload of a signed transaction (App Store Server API, `JWSTransactionDecodedPayload`). Identifiers are strings,
/// because Apple does not guarantee that they remain numbers. Prices are in thousandths of the currency.
public struct JWSTransactionDecodedPayload: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The first transaction of a subscription or product, which orders its events.
  public var originalTransactionId: String? {
    get { self["originalTransactionId"] }
    set { self["originalTransactionId"] = newValue }
  }

  /// This transaction.
  public var transactionId: String? {
    get { self["transactionId"] }
    set { self["transactionId"] = newValue }
  }

  /// The purchase event of a subscription across devices.
  public var webOrderLineItemId: String? {
    get { self["webOrderLineItemId"] }
    set { self["webOrderLineItemId"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The purchased product.
  public var productId: String? {
    get { self["productId"] }
    set { self["productId"] = newValue }
  }

  /// The subscription group of the product.
  public var subscriptionGroupIdentifier: String? {
    get { self["subscriptionGroupIdentifier"] }
    set { self["subscriptionGroupIdentifier"] = newValue }
  }

  /// The time at which the customer was charged; up to a minute after `signedDate` for a renewal.
  public var purchaseDate: Timestamp? {
    get { self["purchaseDate"] }
    set { self["purchaseDate"] = newValue }
  }

  /// The `purchaseDate` of the original transaction.
  public var originalPurchaseDate: Timestamp? {
    get { self["originalPurchaseDate"] }
    set { self["originalPurchaseDate"] = newValue }
  }

  /// The time at which the subscription expires or renews.
  public var expiresDate: Timestamp? {
    get { self["expiresDate"] }
    set { self["expiresDate"] = newValue }
  }

  /// The number of consumables purchased.
  public var quantity: Int64? {
    get { self["quantity"] }
    set { self["quantity"] = newValue }
  }

  /// The type of the product.
  public var type: ProductType? {
    get { self["type"] }
    set { self["type"] = newValue }
  }

  /// The account that the app set at the purchase, a UUID.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// Whether the product was purchased or family-shared.
  public var inAppOwnershipType: InAppOwnershipType? {
    get { self["inAppOwnershipType"] }
    set { self["inAppOwnershipType"] = newValue }
  }

  /// The time at which Apple signed this transaction.
  public var signedDate: Timestamp? {
    get { self["signedDate"] }
    set { self["signedDate"] = newValue }
  }

  /// The reason it was refunded.
  public var revocationReason: RevocationReason? {
    get { self["revocationReason"] }
    set { self["revocationReason"] = newValue }
  }

  /// The time at which it was refunded or no longer shared.
  public var revocationDate: Timestamp? {
    get { self["revocationDate"] }
    set { self["revocationDate"] = newValue }
  }

  /// Whether the customer upgraded to a higher plan; absent if not.
  public var isUpgraded: Bool? {
    get { self["isUpgraded"] }
    set { self["isUpgraded"] = newValue }
  }

  /// The type of the offer that applied.
  public var offerType: OfferType? {
    get { self["offerType"] }
    set { self["offerType"] = newValue }
  }

  /// The offer code or promotional offer that applied.
  public var offerIdentifier: String? {
    get { self["offerIdentifier"] }
    set { self["offerIdentifier"] = newValue }
  }

  /// The environment of the purchase; absent in January 2022.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The storefront's country, ISO 3166-1 alpha-3.
  public var storefront: String? {
    get { self["storefront"] }
    set { self["storefront"] = newValue }
  }

  /// Apple's number for the storefront.
  public var storefrontId: String? {
    get { self["storefrontId"] }
    set { self["storefrontId"] = newValue }
  }

  /// Whether this is a purchase by the customer or a renewal by the App Store.
  public var transactionReason: TransactionReason? {
    get { self["transactionReason"] }
    set { self["transactionReason"] = newValue }
  }

  /// The currency of ``price``, ISO 4217.
  public var currency: String? {
    get { self["currency"] }
    set { self["currency"] = newValue }
  }

  /// The price in thousandths of the currency.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The payment mode of the offer.
  public var offerDiscountType: OfferDiscountType? {
    get { self["offerDiscountType"] }
    set { self["offerDiscountType"] = newValue }
  }

  /// The app transaction of the customer.
  public var appTransactionId: String? {
    get { self["appTransactionId"] }
    set { self["appTransactionId"] = newValue }
  }

  /// The length of the offer, ISO 8601.
  public var offerPeriod: String? {
    get { self["offerPeriod"] }
    set { self["offerPeriod"] = newValue }
  }

  /// The type of the revocation.
  public var revocationType: RevocationType? {
    get { self["revocationType"] }
    set { self["revocationType"] = newValue }
  }

  /// The refunded share, in thousandths of a percent: 50000 is half.
  public var revocationPercentage: Int64? {
    get { self["revocationPercentage"] }
    set { self["revocationPercentage"] = newValue }
  }

  /// The items of an Advanced Commerce purchase.
  public var advancedCommerceInfo: AdvancedCommerceTransactionInfo? {
    get { self["advancedCommerceInfo"] }
    set { self["advancedCommerceInfo"] = newValue }
  }

  /// The billing plan of the commitment.
  public var billingPlanType: BillingPlanType? {
    get { self["billingPlanType"] }
    set { self["billingPlanType"] = newValue }
  }

  /// The commitment that this transaction belongs to.
  public var commitmentInfo: TransactionCommitmentInfo? {
    get { self["commitmentInfo"] }
    set { self["commitmentInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("originalTransactionId", \.originalTransactionId),
    DocumentedField("transactionId", \.transactionId),
    DocumentedField("webOrderLineItemId", \.webOrderLineItemId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("productId", \.productId),
    DocumentedField("subscriptionGroupIdentifier", \.subscriptionGroupIdentifier),
    DocumentedField("purchaseDate", \.purchaseDate),
    DocumentedField("originalPurchaseDate", \.originalPurchaseDate),
    DocumentedField("expiresDate", \.expiresDate),
    DocumentedField("quantity", \.quantity),
    DocumentedField("type", \.type),
    DocumentedField("appAccountToken", \.appAccountToken),
    DocumentedField("inAppOwnershipType", \.inAppOwnershipType),
    DocumentedField("signedDate", \.signedDate),
    DocumentedField("revocationReason", \.revocationReason),
    DocumentedField("revocationDate", \.revocationDate),
    DocumentedField("isUpgraded", \.isUpgraded),
    DocumentedField("offerType", \.offerType),
    DocumentedField("offerIdentifier", \.offerIdentifier),
    DocumentedField("environment", \.environment),
    DocumentedField("storefront", \.storefront),
    DocumentedField("storefrontId", \.storefrontId),
    DocumentedField("transactionReason", \.transactionReason),
    DocumentedField("currency", \.currency),
    DocumentedField("price", \.price),
    DocumentedField("offerDiscountType", \.offerDiscountType),
    DocumentedField("appTransactionId", \.appTransactionId),
    DocumentedField("offerPeriod", \.offerPeriod),
    DocumentedField("revocationType", \.revocationType),
    DocumentedField("revocationPercentage", \.revocationPercentage),
    DocumentedField("advancedCommerceInfo", \.advancedCommerceInfo),
    DocumentedField("billingPlanType", \.billingPlanType),
    DocumentedField("commitmentInfo", \.commitmentInfo),
  ]
}
