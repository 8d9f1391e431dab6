/// The subtype of a version 2 notification (App Store Server Notifications, `subtype`). If a notification has none, the
/// field is absent and never empty.
public struct Subtype: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The first purchase of any product in the subscription group.
  public static let initialBuy = Subtype(rawValue: "INITIAL_BUY")
  /// A purchase after an earlier subscription in the group had expired.
  public static let resubscribe = Subtype(rawValue: "RESUBSCRIBE")
  /// A change to a lower plan, which takes effect at the next renewal.
  public static let downgrade = Subtype(rawValue: "DOWNGRADE")
  /// A change to a higher plan, which takes effect immediately.
  public static let upgrade = Subtype(rawValue: "UPGRADE")
  /// Auto-renewal was turned on.
  public static let autoRenewEnabled = Subtype(rawValue: "AUTO_RENEW_ENABLED")
  /// Auto-renewal was turned off.
  public static let autoRenewDisabled = Subtype(rawValue: "AUTO_RENEW_DISABLED")
  /// The subscription expired because the customer had turned auto-renewal off.
  public static let voluntary = Subtype(rawValue: "VOLUNTARY")
  /// The subscription expired because billing failed until the retry period ended.
  public static let billingRetry = Subtype(rawValue: "BILLING_RETRY")
  /// The subscription expired because the customer did not consent to a price increase.
  public static let priceIncrease = Subtype(rawValue: "PRICE_INCREASE")
  /// The failed renewal is in a billing grace period: continue to provide access.
  public static let gracePeriod = Subtype(rawValue: "GRACE_PERIOD")
  /// The customer has not responded to the price increase.
  public static let pending = Subtype(rawValue: "PENDING")
  /// The customer consented to the price increase or does not need to.
  public static let accepted = Subtype(rawValue: "ACCEPTED")
  /// The subscription renewed after an earlier billing failure.
  public static let billingRecovery = Subtype(rawValue: "BILLING_RECOVERY")
  /// The subscription expired because the product was not for sale at renewal.
  public static let productNotForSale = Subtype(rawValue: "PRODUCT_NOT_FOR_SALE")
  /// The extension for all active subscribers is complete.
  public static let summary = Subtype(rawValue: "SUMMARY")
  /// The extension for all active subscribers failed for one subscription.
  public static let failure = Subtype(rawValue: "FAILURE")
  /// The external purchase token has not been reported.
  public static let unreported = Subtype(rawValue: "UNREPORTED")
  /// The external purchase token was created.
  public static let created = Subtype(rawValue: "CREATED")
  /// The external purchase token is still active, and its report is due.
  public static let activeTokenReminder = Subtype(rawValue: "ACTIVE_TOKEN_REMINDER")

  /// The values that Apple documents.
  public static let allKnown: [Subtype] = [
    .initialBuy, .resubscribe, .downgrade, .upgrade, .autoRenewEnabled, .autoRenewDisabled, .voluntary, .billingRetry,
    .priceIncrease, .gracePeriod, .pending, .accepted, .billingRecovery, .productNotForSale, .summary, .failure,
    .unreported, .created, .activeTokenReminder,
  ]
}
