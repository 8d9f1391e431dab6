// Written from Sources/AppStore/Fields/V2.md by `scripts/check types --write`.

/// The app and its signed app transaction (App Store Server Notifications, `appData`).
public struct AppData: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The app's Apple ID.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The environment of the app purchase.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// A JWS whose payload is an ``AppTransaction``.
  public var signedAppTransactionInfo: String? {
    get { self["signedAppTransactionInfo"] }
    set { self["signedAppTransactionInfo"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("environment", \.environment),
    DocumentedField("signedAppTransactionInfo", \.signedAppTransactionInfo),
  ]
}

/// The payload of a signed app transaction (StoreKit, `JWSAppTransactionDecodedPayload`). Its signing date is
/// ``receiptCreationDate``.
public struct AppTransaction: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The environment, which has another name here.
  public var receiptType: AppStoreEnvironment? {
    get { self["receiptType"] }
    set { self["receiptType"] = newValue }
  }

  /// The app's Apple ID; absent in the sandbox.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The version of the app that the app transaction applies to.
  public var applicationVersion: String? {
    get { self["applicationVersion"] }
    set { self["applicationVersion"] = newValue }
  }

  /// Apple's number for the version of the app.
  public var versionExternalIdentifier: Int64? {
    get { self["versionExternalIdentifier"] }
    set { self["versionExternalIdentifier"] = newValue }
  }

  /// The time at which Apple signed the app transaction.
  public var receiptCreationDate: Timestamp? {
    get { self["receiptCreationDate"] }
    set { self["receiptCreationDate"] = newValue }
  }

  /// The time at which the customer bought the app.
  public var originalPurchaseDate: Timestamp? {
    get { self["originalPurchaseDate"] }
    set { self["originalPurchaseDate"] = newValue }
  }

  /// The version of the app that the customer originally purchased.
  public var originalApplicationVersion: String? {
    get { self["originalApplicationVersion"] }
    set { self["originalApplicationVersion"] = newValue }
  }

  /// Binds the app transaction to a device, Base64.
  public var deviceVerification: String? {
    get { self["deviceVerification"] }
    set { self["deviceVerification"] = newValue }
  }

  /// The UUID that ``deviceVerification`` was computed with.
  public var deviceVerificationNonce: String? {
    get { self["deviceVerificationNonce"] }
    set { self["deviceVerificationNonce"] = newValue }
  }

  /// The time at which the customer preordered the app.
  public var preorderDate: Timestamp? {
    get { self["preorderDate"] }
    set { self["preorderDate"] = newValue }
  }

  /// Identifies the app transaction; unique for each customer and app.
  public var appTransactionId: String? {
    get { self["appTransactionId"] }
    set { self["appTransactionId"] = newValue }
  }

  /// The platform on which the customer purchased the app.
  public var originalPlatform: PurchasePlatform? {
    get { self["originalPlatform"] }
    set { self["originalPlatform"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("receiptType", \.receiptType),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("applicationVersion", \.applicationVersion),
    DocumentedField("versionExternalIdentifier", \.versionExternalIdentifier),
    DocumentedField("receiptCreationDate", \.receiptCreationDate),
    DocumentedField("originalPurchaseDate", \.originalPurchaseDate),
    DocumentedField("originalApplicationVersion", \.originalApplicationVersion),
    DocumentedField("deviceVerification", \.deviceVerification),
    DocumentedField("deviceVerificationNonce", \.deviceVerificationNonce),
    DocumentedField("preorderDate", \.preorderDate),
    DocumentedField("appTransactionId", \.appTransactionId),
    DocumentedField("originalPlatform", \.originalPlatform),
  ]
}

/// A token for external purchases (App Store Server Notifications, `externalPurchaseToken`). It has no field for the
/// environment: see ``environment``.
public struct ExternalPurchaseToken: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Identifies the token; begins with `SANDBOX` in the sandbox.
  public var externalPurchaseId: String? {
    get { self["externalPurchaseId"] }
    set { self["externalPurchaseId"] = newValue }
  }

  /// The time at which the token was created.
  public var tokenCreationDate: Timestamp? {
    get { self["tokenCreationDate"] }
    set { self["tokenCreationDate"] = newValue }
  }

  /// The app's Apple ID.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The time at which the token expires; only for custom links.
  public var tokenExpirationDate: Timestamp? {
    get { self["tokenExpirationDate"] }
    set { self["tokenExpirationDate"] = newValue }
  }

  /// The type of the token; only for custom links.
  public var tokenType: ExternalPurchaseTokenType? {
    get { self["tokenType"] }
    set { self["tokenType"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("externalPurchaseId", \.externalPurchaseId),
    DocumentedField("tokenCreationDate", \.tokenCreationDate),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("tokenExpirationDate", \.tokenExpirationDate),
    DocumentedField("tokenType", \.tokenType),
  ]
}

/// The header of a JWS from Apple (App Store Server API, `JWSDecodedHeader`). All known tokens from Apple have exactly
/// these two fields, in this order.
public struct JWSDecodedHeader: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The algorithm, `ES256`.
  public var alg: String? {
    get { self["alg"] }
    set { self["alg"] = newValue }
  }

  /// The leaf, intermediate and root certificates: DER in standard Base64.
  public var x5c: [String]? {
    get { self["x5c"] }
    set { self["x5c"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("alg", \.alg),
    DocumentedField("x5c", \.x5c),
  ]
}

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

/// The app and its signed transaction and renewal info (App Store Server Notifications, `data`). Each of the two signed
/// strings is a separate JWS that has to be verified like the notification itself.
public struct NotificationData: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The environment of the purchase.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The app's Apple ID; absent in sandbox `TEST` notifications and in the sandbox of 2022.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle identifier, which need not contain a dot.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The build of the app, arbitrary text.
  public var bundleVersion: String? {
    get { self["bundleVersion"] }
    set { self["bundleVersion"] = newValue }
  }

  /// A JWS whose payload is a ``JWSTransactionDecodedPayload``.
  public var signedTransactionInfo: String? {
    get { self["signedTransactionInfo"] }
    set { self["signedTransactionInfo"] = newValue }
  }

  /// A JWS whose payload is a ``JWSRenewalInfoDecodedPayload``; only for auto-renewable subscriptions.
  public var signedRenewalInfo: String? {
    get { self["signedRenewalInfo"] }
    set { self["signedRenewalInfo"] = newValue }
  }

  /// The status of the subscription at `signedDate`; only for auto-renewable subscriptions.
  public var status: Status? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The customer's reason for the refund request; only for `CONSUMPTION_REQUEST`.
  public var consumptionRequestReason: ConsumptionRequestReason? {
    get { self["consumptionRequestReason"] }
    set { self["consumptionRequestReason"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("environment", \.environment),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("bundleVersion", \.bundleVersion),
    DocumentedField("signedTransactionInfo", \.signedTransactionInfo),
    DocumentedField("signedRenewalInfo", \.signedRenewalInfo),
    DocumentedField("status", \.status),
    DocumentedField("consumptionRequestReason", \.consumptionRequestReason),
  ]
}

/// The result of an extension of the renewal date for all active subscribers (App Store Server Notifications,
/// `summary`).
public struct NotificationSummary: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The environment of the extension.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The app's Apple ID.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The product whose subscriptions were extended.
  public var productId: String? {
    get { self["productId"] }
    set { self["productId"] = newValue }
  }

  /// The identifier of the request, a UUID.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// The storefronts of the request, ISO 3166-1 alpha-3; absent if it applied to all.
  public var storefrontCountryCodes: [String]? {
    get { self["storefrontCountryCodes"] }
    set { self["storefrontCountryCodes"] = newValue }
  }

  /// The number of subscriptions that were extended.
  public var succeededCount: Int64? {
    get { self["succeededCount"] }
    set { self["succeededCount"] = newValue }
  }

  /// The number of subscriptions that were not extended. Each has its own notification with subtype `FAILURE`.
  public var failedCount: Int64? {
    get { self["failedCount"] }
    set { self["failedCount"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("environment", \.environment),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("productId", \.productId),
    DocumentedField("requestIdentifier", \.requestIdentifier),
    DocumentedField("storefrontCountryCodes", \.storefrontCountryCodes),
    DocumentedField("succeededCount", \.succeededCount),
    DocumentedField("failedCount", \.failedCount),
  ]
}

/// The commitment of a renewal (App Store Server API 1.21, `commitmentInfo`). Prices are in thousandths of the
/// currency.
public struct RenewalCommitmentInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The product that renews next.
  public var commitmentAutoRenewProductId: String? {
    get { self["commitmentAutoRenewProductId"] }
    set { self["commitmentAutoRenewProductId"] = newValue }
  }

  /// Whether the commitment will renew.
  public var commitmentAutoRenewStatus: AutoRenewStatus? {
    get { self["commitmentAutoRenewStatus"] }
    set { self["commitmentAutoRenewStatus"] = newValue }
  }

  /// The billing plan of the next commitment.
  public var commitmentRenewalBillingPlanType: RenewalBillingPlanType? {
    get { self["commitmentRenewalBillingPlanType"] }
    set { self["commitmentRenewalBillingPlanType"] = newValue }
  }

  /// The time at which the next commitment starts.
  public var commitmentRenewalDate: Timestamp? {
    get { self["commitmentRenewalDate"] }
    set { self["commitmentRenewalDate"] = newValue }
  }

  /// The price of the next commitment.
  public var commitmentRenewalPrice: Int64? {
    get { self["commitmentRenewalPrice"] }
    set { self["commitmentRenewalPrice"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("commitmentAutoRenewProductId", \.commitmentAutoRenewProductId),
    DocumentedField("commitmentAutoRenewStatus", \.commitmentAutoRenewStatus),
    DocumentedField("commitmentRenewalBillingPlanType", \.commitmentRenewalBillingPlanType),
    DocumentedField("commitmentRenewalDate", \.commitmentRenewalDate),
    DocumentedField("commitmentRenewalPrice", \.commitmentRenewalPrice),
  ]
}

/// The body of a version 2 notification (App Store Server Notifications, `responseBodyV2`).
public struct ResponseBodyV2: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The notification as a JWS, whose payload is a ``ResponseBodyV2DecodedPayload``.
  public var signedPayload: String? {
    get { self["signedPayload"] }
    set { self["signedPayload"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedPayload", \.signedPayload)
  ]
}

/// The payload of a version 2 notification (App Store Server Notifications, `responseBodyV2DecodedPayload`). Exactly
/// one of ``data``, ``summary``, ``externalPurchaseToken`` and ``appData`` is expected.
public struct ResponseBodyV2DecodedPayload: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The notification type.
  public var notificationType: NotificationTypeV2? {
    get { self["notificationType"] }
    set { self["notificationType"] = newValue }
  }

  /// The subtype; absent if the type has none.
  public var subtype: Subtype? {
    get { self["subtype"] }
    set { self["subtype"] = newValue }
  }

  /// Identifies the notification; the same for every delivery attempt.
  public var notificationUUID: String? {
    get { self["notificationUUID"] }
    set { self["notificationUUID"] = newValue }
  }

  /// The app and its signed transaction; for every type without one of the other three parts.
  public var data: NotificationData? {
    get { self["data"] }
    set { self["data"] = newValue }
  }

  /// The version of the format, `2.0`.
  public var version: String? {
    get { self["version"] }
    set { self["version"] = newValue }
  }

  /// The time at which Apple signed the notification; absent before 2022.
  public var signedDate: Timestamp? {
    get { self["signedDate"] }
    set { self["signedDate"] = newValue }
  }

  /// The result of an extension for all active subscribers: `RENEWAL_EXTENSION` with subtype `SUMMARY`.
  public var summary: NotificationSummary? {
    get { self["summary"] }
    set { self["summary"] = newValue }
  }

  /// The token of an `EXTERNAL_PURCHASE_TOKEN`.
  public var externalPurchaseToken: ExternalPurchaseToken? {
    get { self["externalPurchaseToken"] }
    set { self["externalPurchaseToken"] = newValue }
  }

  /// The app and its signed app transaction: `RESCIND_CONSENT`.
  public var appData: AppData? {
    get { self["appData"] }
    set { self["appData"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("notificationType", \.notificationType),
    DocumentedField("subtype", \.subtype),
    DocumentedField("notificationUUID", \.notificationUUID),
    DocumentedField("data", \.data),
    DocumentedField("version", \.version),
    DocumentedField("signedDate", \.signedDate),
    DocumentedField("summary", \.summary),
    DocumentedField("externalPurchaseToken", \.externalPurchaseToken),
    DocumentedField("appData", \.appData),
  ]
}

/// The commitment of a transaction (App Store Server API 1.21, `commitmentInfo`). Prices are in thousandths of the
/// currency.
public struct TransactionCommitmentInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The number of this billing period, starting at 1.
  public var billingPeriodNumber: Int64? {
    get { self["billingPeriodNumber"] }
    set { self["billingPeriodNumber"] = newValue }
  }

  /// The time at which the commitment ends.
  public var commitmentExpiresDate: Timestamp? {
    get { self["commitmentExpiresDate"] }
    set { self["commitmentExpiresDate"] = newValue }
  }

  /// The price of the whole commitment.
  public var commitmentPrice: Int64? {
    get { self["commitmentPrice"] }
    set { self["commitmentPrice"] = newValue }
  }

  /// The number of billing periods in the commitment.
  public var totalBillingPeriods: Int64? {
    get { self["totalBillingPeriods"] }
    set { self["totalBillingPeriods"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("billingPeriodNumber", \.billingPeriodNumber),
    DocumentedField("commitmentExpiresDate", \.commitmentExpiresDate),
    DocumentedField("commitmentPrice", \.commitmentPrice),
    DocumentedField("totalBillingPeriods", \.totalBillingPeriods),
  ]
}
