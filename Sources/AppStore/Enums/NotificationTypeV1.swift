// What happened, in notifications of version 1.

/// The event of a version 1 notification (App Store Server Notifications V1, `notification_type`). Deprecated by Apple.
public struct NotificationTypeV1: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Apple Support cancelled and refunded a subscription.
  public static let cancel = NotificationTypeV1(rawValue: "CANCEL")
  /// The customer asked for a refund of a consumable and the App Store asks what was consumed.
  public static let consumptionRequest = NotificationTypeV1(rawValue: "CONSUMPTION_REQUEST")
  /// The customer changed the plan from the next renewal on.
  public static let didChangeRenewalPref = NotificationTypeV1(rawValue: "DID_CHANGE_RENEWAL_PREF")
  /// Auto-renewal was switched on or off.
  public static let didChangeRenewalStatus = NotificationTypeV1(rawValue: "DID_CHANGE_RENEWAL_STATUS")
  /// A renewal failed because of billing.
  public static let didFailToRenew = NotificationTypeV1(rawValue: "DID_FAIL_TO_RENEW")
  /// A subscription that had failed to renew renewed.
  public static let didRecover = NotificationTypeV1(rawValue: "DID_RECOVER")
  /// The subscription renewed.
  public static let didRenew = NotificationTypeV1(rawValue: "DID_RENEW")
  /// First purchase of the subscription.
  public static let initialBuy = NotificationTypeV1(rawValue: "INITIAL_BUY")
  /// The customer renewed in the app or in the App Store settings.
  public static let interactiveRenewal = NotificationTypeV1(rawValue: "INTERACTIVE_RENEWAL")
  /// The App Store has begun to ask for consent to a price increase.
  public static let priceIncreaseConsent = NotificationTypeV1(rawValue: "PRICE_INCREASE_CONSENT")
  /// A consumable, non-consumable or non-renewing subscription was refunded.
  public static let refund = NotificationTypeV1(rawValue: "REFUND")
  /// A purchase shared by the family is no longer shared.
  public static let revoke = NotificationTypeV1(rawValue: "REVOKE")
  /// Not sent since 10 March 2021; ``didRecover`` took its place.
  public static let renewal = NotificationTypeV1(rawValue: "RENEWAL")

  /// The values that Apple documents.
  public static let allKnown: [NotificationTypeV1] = [
    .cancel, .consumptionRequest, .didChangeRenewalPref, .didChangeRenewalStatus, .didFailToRenew, .didRecover,
    .didRenew, .initialBuy, .interactiveRenewal, .priceIncreaseConsent, .refund, .revoke, .renewal,
  ]
}
