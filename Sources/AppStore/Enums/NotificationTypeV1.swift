/// The event of a version 1 notification (App Store Server Notifications V1, `notification_type`). Deprecated by Apple.
public struct NotificationTypeV1: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Apple Support canceled and refunded a subscription.
  public static let cancel = NotificationTypeV1(rawValue: "CANCEL")
  /// The customer requested a refund of a consumable, and the App Store requests consumption information.
  public static let consumptionRequest = NotificationTypeV1(rawValue: "CONSUMPTION_REQUEST")
  /// The customer changed the plan that takes effect at the next renewal.
  public static let didChangeRenewalPref = NotificationTypeV1(rawValue: "DID_CHANGE_RENEWAL_PREF")
  /// Auto-renewal was turned on or off.
  public static let didChangeRenewalStatus = NotificationTypeV1(rawValue: "DID_CHANGE_RENEWAL_STATUS")
  /// A renewal failed because of a billing problem.
  public static let didFailToRenew = NotificationTypeV1(rawValue: "DID_FAIL_TO_RENEW")
  /// A subscription renewed after an earlier failure.
  public static let didRecover = NotificationTypeV1(rawValue: "DID_RECOVER")
  /// The subscription renewed.
  public static let didRenew = NotificationTypeV1(rawValue: "DID_RENEW")
  /// The customer purchased the subscription for the first time.
  public static let initialBuy = NotificationTypeV1(rawValue: "INITIAL_BUY")
  /// The customer renewed in the app or in the App Store settings.
  public static let interactiveRenewal = NotificationTypeV1(rawValue: "INTERACTIVE_RENEWAL")
  /// The App Store has started to ask for consent to a price increase.
  public static let priceIncreaseConsent = NotificationTypeV1(rawValue: "PRICE_INCREASE_CONSENT")
  /// A consumable, non-consumable or non-renewing subscription was refunded.
  public static let refund = NotificationTypeV1(rawValue: "REFUND")
  /// A purchase is no longer shared through Family Sharing.
  public static let revoke = NotificationTypeV1(rawValue: "REVOKE")
  /// Not sent since 10 March 2021; ``didRecover`` replaced it.
  public static let renewal = NotificationTypeV1(rawValue: "RENEWAL")

  /// The values that Apple documents.
  public static let allKnown: [NotificationTypeV1] = [
    .cancel, .consumptionRequest, .didChangeRenewalPref, .didChangeRenewalStatus, .didFailToRenew, .didRecover,
    .didRenew, .initialBuy, .interactiveRenewal, .priceIncreaseConsent, .refund, .revoke, .renewal,
  ]
}
