// One customer's purchase, from which the signed transaction and renewal info of a sample are told.
import AppStore

/// What a notification is about: a subscription, or a consumable when the notification is ONE_TIME_CHARGE.
struct SamplePurchase {
  var app: SampleApp
  var kind: SampleKind
  var signedDate: Timestamp
  var transactionId: String
  var originalTransactionId: String
  var webOrderLineItemId: String
  var appTransactionId: String
  var appAccountToken: String

  init(app: SampleApp, kind: SampleKind, signedDate: Timestamp, using generator: inout SeededGenerator) {
    self.app = app
    self.kind = kind
    self.signedDate = signedDate
    originalTransactionId = generator.digits(16, startingWith: "2000000")
    transactionId = kind.type == .oneTimeCharge ? originalTransactionId : generator.digits(16, startingWith: "2000001")
    webOrderLineItemId = generator.digits(16, startingWith: "20000000")
    appTransactionId = generator.digits(18, startingWith: "704")
    appAccountToken = generator.uuid()
  }

  private var monthly: String { app.bundleId + ".premium.monthly" }
  private var yearly: String { app.bundleId + ".premium.yearly" }
  private var isSubscription: Bool { kind.type != .oneTimeCharge }
  private var isAdvancedCommerce: Bool {
    [.metadataUpdate, .migration, .priceChange].contains(kind.type)
  }
  private var isRevoked: Bool { kind.type == .refund || kind.type == .revoke }
  private var hasLapsed: Bool {
    [.expired, .gracePeriodExpired, .didFailToRenew].contains(kind.type)
  }
  private var renewsAutomatically: Bool {
    kind.subtype != .autoRenewDisabled && kind.subtype != .voluntary && kind.type != .revoke
  }
  // DID_RENEW comes shortly before the period it announces, so its purchaseDate lies ahead of its signedDate.
  private var purchaseDate: Timestamp {
    signedDate + (hasLapsed ? .seconds(-30 * 86_400) : kind.type == .didRenew ? .seconds(34) : .seconds(-3_600))
  }
  private var expiresDate: Timestamp { purchaseDate + .seconds(30 * 86_400) }

  /// `status` of `data`, by Apple's `status` page: 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
  var status: Int64 {
    switch kind.type {
    case .expired, .gracePeriodExpired: kind.subtype == .billingRetry || kind.type == .gracePeriodExpired ? 3 : 2
    case .didFailToRenew: kind.subtype == .gracePeriod ? 4 : 3
    case .revoke: 5
    default: 1
    }
  }

  /// The payload of `signedTransactionInfo`.
  var transaction: JSONObject {
    JSONObject(ordered: [
      "transactionId": .string(transactionId),
      "originalTransactionId": .string(originalTransactionId),
      "webOrderLineItemId": isSubscription ? .string(webOrderLineItemId) : nil,
      "bundleId": .string(app.bundleId),
      "productId": .string(isSubscription ? monthly : app.bundleId + ".coins.100"),
      "subscriptionGroupIdentifier": isSubscription ? .string("21345678") : nil,
      "purchaseDate": .date(purchaseDate),
      "originalPurchaseDate": .date(isSubscription ? signedDate + .seconds(-90 * 86_400) : purchaseDate),
      "expiresDate": isSubscription ? .date(expiresDate) : nil,
      "quantity": .integer(1),
      "type": .string(isSubscription ? "Auto-Renewable Subscription" : "Consumable"),
      "appAccountToken": .string(appAccountToken),
      "inAppOwnershipType": .string(kind.type == .revoke ? "FAMILY_SHARED" : "PURCHASED"),
      "signedDate": .date(signedDate),
      "revocationReason": isRevoked ? .integer(0) : nil,
      "revocationDate": isRevoked ? .date(signedDate + .seconds(-60)) : nil,
      "offerType": kind.type == .offerRedeemed ? .integer(3) : nil,
      "offerIdentifier": kind.type == .offerRedeemed ? .string("WELCOME-BACK") : nil,
      "environment": .string(app.environment.rawValue),
      "transactionReason": .string(kind.type == .didRenew ? "RENEWAL" : "PURCHASE"),
      "storefront": .string("USA"),
      "storefrontId": .string("143441"),
      "price": .integer(9_990),
      "currency": .string("USD"),
      "offerDiscountType": kind.type == .offerRedeemed ? .string("FREE_TRIAL") : nil,
      "appTransactionId": .string(appTransactionId),
      "revocationType": isRevoked ? .string(kind.type == .revoke ? "FAMILY_REVOKE" : "REFUND_FULL") : nil,
      "revocationPercentage": kind.type == .refund ? .integer(100_000) : nil,
      "advancedCommerceInfo": isAdvancedCommerce ? .object(advancedCommerceInfo) : nil,
    ])
  }

  /// The payload of `signedRenewalInfo`; price and currency are gone once the subscription does not renew.
  var renewalInfo: JSONObject {
    let next =
      switch kind.subtype {
      case .upgrade?, .downgrade?: yearly
      default: monthly
      }
    let isRetrying = status == 3 || status == 4
    return JSONObject(ordered: [
      "expirationIntent": expirationIntent.map { .integer($0) },
      "originalTransactionId": .string(originalTransactionId),
      "autoRenewProductId": .string(next),
      "productId": .string(monthly),
      "autoRenewStatus": .integer(renewsAutomatically ? 1 : 0),
      "isInBillingRetryPeriod": hasLapsed ? .bool(isRetrying) : nil,
      "priceIncreaseStatus": kind.type == .priceIncrease ? .integer(kind.subtype == .accepted ? 1 : 0) : nil,
      "gracePeriodExpiresDate": status == 4 ? .date(signedDate + .seconds(16 * 86_400)) : nil,
      "renewalPrice": renewsAutomatically ? .integer(9_990) : nil,
      "currency": renewsAutomatically ? .string("USD") : nil,
      "signedDate": .date(signedDate),
      "environment": .string(app.environment.rawValue),
      "recentSubscriptionStartDate": .date(signedDate + .seconds(-90 * 86_400)),
      "renewalDate": .date(expiresDate),
      "appTransactionId": .string(appTransactionId),
      "appAccountToken": .string(appAccountToken),
    ])
  }

  /// The payload of `signedAppTransactionInfo`.
  var appTransaction: JSONObject {
    JSONObject(ordered: [
      "receiptType": .string(app.environment.rawValue),
      "appAppleId": .integer(app.appAppleId),
      "bundleId": .string(app.bundleId),
      "applicationVersion": .string("421"),
      "versionExternalIdentifier": .integer(868_112_233),
      "receiptCreationDate": .date(signedDate),
      "originalPurchaseDate": .date(signedDate + .seconds(-90 * 86_400)),
      "originalApplicationVersion": .string("1"),
      "appTransactionId": .string(appTransactionId),
      "originalPlatform": .string("iOS"),
    ])
  }

  /// `expirationIntent` of renewal info: 1 cancelled, 2 billing error, 3 price increase, 4 not available.
  private var expirationIntent: Int64? {
    guard kind.type == .expired || kind.type == .didFailToRenew else { return nil }
    return switch kind.subtype {
    case .voluntary?: 1
    case .priceIncrease?: 3
    case .productNotForSale?: 4
    default: 2
    }
  }

  private var advancedCommerceInfo: JSONObject {
    JSONObject(ordered: [
      "requestReferenceId": .string(appAccountToken),
      "taxCode": .string("S021-08-1"),
      "period": .string("P1M"),
      "descriptors": .object(
        JSONObject(ordered: ["description": .string("Premium"), "displayName": .string("Premium, monthly")])),
      "items": .array([
        .object(
          JSONObject(ordered: [
            "SKU": .string("premium-monthly"), "description": .string("Premium"), "displayName": .string("Premium"),
            "price": .integer(9_990),
          ]))
      ]),
    ])
  }
}
