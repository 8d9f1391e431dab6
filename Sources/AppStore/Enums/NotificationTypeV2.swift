/// The event of a version 2 notification (App Store Server Notifications, `notificationType`).
public struct NotificationTypeV2: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer subscribed, for the first time or again.
  public static let subscribed = NotificationTypeV2(rawValue: "SUBSCRIBED")
  /// The customer changed the plan. An upgrade takes effect immediately, a downgrade at the next renewal.
  public static let didChangeRenewalPref = NotificationTypeV2(rawValue: "DID_CHANGE_RENEWAL_PREF")
  /// The customer turned auto-renewal on or off, or the App Store turned it off after a refund.
  public static let didChangeRenewalStatus = NotificationTypeV2(rawValue: "DID_CHANGE_RENEWAL_STATUS")
  /// An active subscriber redeemed an offer.
  public static let offerRedeemed = NotificationTypeV2(rawValue: "OFFER_REDEEMED")
  /// The subscription renewed. Sent up to a minute before the new period starts.
  public static let didRenew = NotificationTypeV2(rawValue: "DID_RENEW")
  /// The subscription expired; the subtype states the reason.
  public static let expired = NotificationTypeV2(rawValue: "EXPIRED")
  /// A renewal failed because of a billing problem; the App Store retries.
  public static let didFailToRenew = NotificationTypeV2(rawValue: "DID_FAIL_TO_RENEW")
  /// The billing grace period ended without a renewal.
  public static let gracePeriodExpired = NotificationTypeV2(rawValue: "GRACE_PERIOD_EXPIRED")
  /// The customer was informed of a price increase or consented to it.
  public static let priceIncrease = NotificationTypeV2(rawValue: "PRICE_INCREASE")
  /// The App Store refunded a transaction.
  public static let refund = NotificationTypeV2(rawValue: "REFUND")
  /// The App Store declined a refund request.
  public static let refundDeclined = NotificationTypeV2(rawValue: "REFUND_DECLINED")
  /// The customer requested a refund, and the App Store requests consumption information within 12 hours.
  public static let consumptionRequest = NotificationTypeV2(rawValue: "CONSUMPTION_REQUEST")
  /// The renewal date of one subscription was extended.
  public static let renewalExtended = NotificationTypeV2(rawValue: "RENEWAL_EXTENDED")
  /// A purchase is no longer shared through Family Sharing.
  public static let revoke = NotificationTypeV2(rawValue: "REVOKE")
  /// A test that the developer requested.
  public static let test = NotificationTypeV2(rawValue: "TEST")
  /// The result of an extension for all active subscribers: one failure, or the summary at the end.
  public static let renewalExtension = NotificationTypeV2(rawValue: "RENEWAL_EXTENSION")
  /// A refund was reversed after a dispute by the customer.
  public static let refundReversed = NotificationTypeV2(rawValue: "REFUND_REVERSED")
  /// A token for external purchases was created or has not been reported.
  public static let externalPurchaseToken = NotificationTypeV2(rawValue: "EXTERNAL_PURCHASE_TOKEN")
  /// The customer bought a consumable, a non-consumable or a non-renewing subscription.
  public static let oneTimeCharge = NotificationTypeV2(rawValue: "ONE_TIME_CHARGE")
  /// A parent withdrew consent for a child's use of the app.
  public static let rescindConsent = NotificationTypeV2(rawValue: "RESCIND_CONSENT")
  /// Advanced Commerce: the metadata of a subscription changed.
  public static let metadataUpdate = NotificationTypeV2(rawValue: "METADATA_UPDATE")
  /// Advanced Commerce: a subscription was migrated to the API.
  public static let migration = NotificationTypeV2(rawValue: "MIGRATION")
  /// Advanced Commerce: the price of a subscription changed.
  public static let priceChange = NotificationTypeV2(rawValue: "PRICE_CHANGE")

  /// The values that Apple documents.
  public static let allKnown: [NotificationTypeV2] = [
    .subscribed, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed, .didRenew, .expired, .didFailToRenew,
    .gracePeriodExpired, .priceIncrease, .refund, .refundDeclined, .consumptionRequest, .renewalExtended, .revoke,
    .test, .renewalExtension, .refundReversed, .externalPurchaseToken, .oneTimeCharge, .rescindConsent,
    .metadataUpdate, .migration, .priceChange,
  ]
}
