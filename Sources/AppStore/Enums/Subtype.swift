// What exactly happened: the refinement of a notification type.

/// The subtype of a version 2 notification (App Store Server Notifications, `subtype`). Absent, never empty, when a
/// notification has none.
public struct Subtype: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// First purchase of any product of the subscription group.
  public static let initialBuy = Subtype(rawValue: "INITIAL_BUY")
  /// A purchase after an earlier subscription of the group had ended.
  public static let resubscribe = Subtype(rawValue: "RESUBSCRIBE")
  /// To a lower plan, from the next renewal on.
  public static let downgrade = Subtype(rawValue: "DOWNGRADE")
  /// To a higher plan, at once.
  public static let upgrade = Subtype(rawValue: "UPGRADE")
  /// Auto-renewal was switched on.
  public static let autoRenewEnabled = Subtype(rawValue: "AUTO_RENEW_ENABLED")
  /// Auto-renewal was switched off.
  public static let autoRenewDisabled = Subtype(rawValue: "AUTO_RENEW_DISABLED")
  /// Expired because the customer had switched auto-renewal off.
  public static let voluntary = Subtype(rawValue: "VOLUNTARY")
  /// Expired because billing failed until the retry period ended.
  public static let billingRetry = Subtype(rawValue: "BILLING_RETRY")
  /// Expired because the customer did not agree to a price increase.
  public static let priceIncrease = Subtype(rawValue: "PRICE_INCREASE")
  /// The failed renewal is inside a billing grace period: keep giving service.
  public static let gracePeriod = Subtype(rawValue: "GRACE_PERIOD")
  /// The customer has not answered the price increase.
  public static let pending = Subtype(rawValue: "PENDING")
  /// The customer agreed to the price increase, or need not.
  public static let accepted = Subtype(rawValue: "ACCEPTED")
  /// Renewed after billing had failed before.
  public static let billingRecovery = Subtype(rawValue: "BILLING_RECOVERY")
  /// Expired because the product was not for sale at renewal.
  public static let productNotForSale = Subtype(rawValue: "PRODUCT_NOT_FOR_SALE")
  /// The extension for all active subscribers is complete.
  public static let summary = Subtype(rawValue: "SUMMARY")
  /// The extension for all active subscribers failed for one subscription.
  public static let failure = Subtype(rawValue: "FAILURE")
  /// The external purchase token has not been reported.
  public static let unreported = Subtype(rawValue: "UNREPORTED")
  /// The external purchase token was created.
  public static let created = Subtype(rawValue: "CREATED")
  /// The external purchase token is still active and wants its report.
  public static let activeTokenReminder = Subtype(rawValue: "ACTIVE_TOKEN_REMINDER")

  /// The values that Apple documents.
  public static let allKnown: [Subtype] = [
    .initialBuy, .resubscribe, .downgrade, .upgrade, .autoRenewEnabled, .autoRenewDisabled, .voluntary, .billingRetry,
    .priceIncrease, .gracePeriod, .pending, .accepted, .billingRecovery, .productNotForSale, .summary, .failure,
    .unreported, .created, .activeTokenReminder,
  ]
}
