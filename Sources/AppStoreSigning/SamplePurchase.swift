// The purchase of one customer, from which a sample's transaction and renewal info are built.
import AppStore

/// The subject of a notification: a subscription, or a consumable for ONE_TIME_CHARGE.
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
  // DID_RENEW arrives shortly before its period begins, so its purchaseDate is later than its signedDate.
  private var purchaseDate: Timestamp {
    signedDate + (hasLapsed ? .seconds(-30 * 86_400) : kind.type == .didRenew ? .seconds(34) : .seconds(-3_600))
  }
  private var expiresDate: Timestamp { purchaseDate + .seconds(30 * 86_400) }

  /// `status` of `data`, according to Apple's `status` page.
  var status: Status {
    switch kind.type {
    case .gracePeriodExpired: .billingRetry
    case .expired: kind.subtype == .billingRetry ? .billingRetry : .expired
    case .didFailToRenew: kind.subtype == .gracePeriod ? .billingGracePeriod : .billingRetry
    case .revoke: .revoked
    default: .active
    }
  }

  /// The payload of `signedTransactionInfo`.
  var transaction: JSONObject {
    var payload = TransactionPayload(
      transactionId: transactionId, originalTransactionId: originalTransactionId, bundleId: app.bundleId,
      productId: isSubscription ? monthly : app.bundleId + ".coins.100", purchaseDate: purchaseDate,
      originalPurchaseDate: isSubscription ? signedDate + .seconds(-90 * 86_400) : purchaseDate,
      type: isSubscription ? .autoRenewableSubscription : .consumable,
      ownership: kind.type == .revoke ? .familyShared : .purchased, signedDate: signedDate,
      environment: app.environment, reason: kind.type == .didRenew ? .renewal : .purchase, price: 9_990,
      appTransactionId: appTransactionId)
    if isSubscription {
      payload.webOrderLineItemId = webOrderLineItemId
      payload.subscriptionGroupIdentifier = "21345678"
      payload.expiresDate = expiresDate
    }
    payload.appAccountToken = appAccountToken
    if isRevoked {
      payload.revocation = .init(
        date: signedDate + .seconds(-60), reason: .refundedForOtherReason,
        type: kind.type == .revoke ? .familyRevoke : .refundFull,
        percentage: kind.type == .refund ? 100_000 : nil)
    }
    if kind.type == .offerRedeemed {
      payload.offer = OfferPayload(type: .offerCode, identifier: "WELCOME-BACK", discountType: .freeTrial)
    }
    payload.advancedCommerceInfo = isAdvancedCommerce ? advancedCommerceInfo : nil
    return payload.json
  }

  /// The payload of `signedRenewalInfo`. Price and currency are omitted if the subscription does not renew.
  var renewalInfo: JSONObject {
    let next =
      switch kind.subtype {
      case .upgrade?, .downgrade?: yearly
      default: monthly
      }
    var payload = RenewalPayload(
      originalTransactionId: originalTransactionId, autoRenewProductId: next, productId: monthly,
      autoRenewStatus: renewsAutomatically ? .on : .off, signedDate: signedDate, environment: app.environment,
      recentSubscriptionStartDate: signedDate + .seconds(-90 * 86_400), renewalDate: expiresDate,
      appTransactionId: appTransactionId)
    payload.expirationIntent = expirationIntent
    payload.isInBillingRetryPeriod = hasLapsed ? status != .expired : nil
    if kind.type == .priceIncrease {
      payload.priceIncreaseStatus =
        kind.subtype == .accepted
        ? .customerConsentedOrWasNotifiedWithoutNeedingConsent : .customerHasNotResponded
    }
    if status == .billingGracePeriod { payload.gracePeriodExpiresDate = signedDate + .seconds(16 * 86_400) }
    if renewsAutomatically { payload.renewalPrice = (9_990, "USD") }
    payload.appAccountToken = appAccountToken
    return payload.json
  }

  /// The payload of `signedAppTransactionInfo`.
  var appTransaction: JSONObject {
    appTransactionPayload(
      app.payload, appTransactionId: appTransactionId, originalPurchaseDate: signedDate + .seconds(-90 * 86_400),
      signedDate: signedDate)
  }

  private var expirationIntent: ExpirationIntent? {
    guard kind.type == .expired || kind.type == .didFailToRenew else { return nil }
    return switch kind.subtype {
    case .voluntary?: .customerCancelled
    case .priceIncrease?: .customerDidNotConsentToPriceIncrease
    case .productNotForSale?: .productNotAvailable
    default: .billingError
    }
  }

  private var advancedCommerceInfo: JSONObject {
    AdvancedCommercePayload(
      requestReferenceId: appAccountToken, period: "P1M", displayName: "Premium, monthly", sku: "premium-monthly",
      price: 9_990
    ).json()
  }
}
