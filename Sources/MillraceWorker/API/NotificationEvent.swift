// Type and subtype as one value for pattern matching, for instance `case .expired(.voluntary)`.

public import AppStore

/// The type and subtype of a notification, from Apple's `notificationType` and `subtype`.
///
/// Subtypes that Apple has not documented yet are passed on unchanged. Undocumented types become
/// ``unrecognized(_:_:)``. Neither causes an error or loses data.
public enum NotificationEvent: Sendable, Hashable {
  /// SUBSCRIBED: `initialBuy` or `resubscribe`.
  case subscribed(Subtype?)
  /// DID_RENEW: nil, or `billingRecovery`.
  case didRenew(Subtype?)
  /// DID_CHANGE_RENEWAL_PREF: nil (the customer reverted a change), `upgrade` or `downgrade`.
  case didChangeRenewalPref(Subtype?)
  /// DID_CHANGE_RENEWAL_STATUS: `autoRenewEnabled` or `autoRenewDisabled`.
  case didChangeRenewalStatus(Subtype?)
  /// OFFER_REDEEMED.
  case offerRedeemed(Subtype?)
  /// EXPIRED: `voluntary`, `billingRetry`, `priceIncrease`, `productNotForSale`.
  case expired(Subtype?)
  /// DID_FAIL_TO_RENEW: nil, or `gracePeriod`.
  case didFailToRenew(Subtype?)
  /// GRACE_PERIOD_EXPIRED.
  case gracePeriodExpired
  /// PRICE_INCREASE: `pending` or `accepted`.
  case priceIncrease(Subtype?)
  /// REFUND.
  case refund
  /// REFUND_REVERSED.
  case refundReversed
  /// REFUND_DECLINED.
  case refundDeclined
  /// CONSUMPTION_REQUEST.
  case consumptionRequest
  /// REVOKE.
  case revoke
  /// RENEWAL_EXTENDED.
  case renewalExtended
  /// RENEWAL_EXTENSION: `summary` or `failure`.
  case renewalExtension(Subtype?)
  /// EXTERNAL_PURCHASE_TOKEN: `created`, `activeTokenReminder`, `unreported`.
  case externalPurchaseToken(Subtype?)
  /// ONE_TIME_CHARGE.
  case oneTimeCharge
  /// RESCIND_CONSENT.
  case rescindConsent
  /// METADATA_UPDATE.
  case metadataUpdate
  /// MIGRATION.
  case migration
  /// PRICE_CHANGE.
  case priceChange
  /// TEST.
  case test
  /// A version 1 notification. It is unsigned: treat it as a hint and confirm it before you act.
  case v1(NotificationTypeV1)
  /// A refunded transaction that was found by querying the API, not received as a notification. See
  /// ``NotificationFamily/foundRefunds``.
  case foundRefund
  /// A request to ask Apple about a purchase, written by a command.
  case importRequest
  /// A type that this version does not know. Both values are as Apple wrote them.
  case unrecognized(String?, Subtype?)

  /// Creates the event of a version 2 notification.
  public init(_ type: NotificationTypeV2?, _ subtype: Subtype?) {
    switch type {
    case .subscribed?: self = .subscribed(subtype)
    case .didRenew?: self = .didRenew(subtype)
    case .didChangeRenewalPref?: self = .didChangeRenewalPref(subtype)
    case .didChangeRenewalStatus?: self = .didChangeRenewalStatus(subtype)
    case .offerRedeemed?: self = .offerRedeemed(subtype)
    case .expired?: self = .expired(subtype)
    case .didFailToRenew?: self = .didFailToRenew(subtype)
    case .gracePeriodExpired?: self = .gracePeriodExpired
    case .priceIncrease?: self = .priceIncrease(subtype)
    case .refund?: self = .refund
    case .refundReversed?: self = .refundReversed
    case .refundDeclined?: self = .refundDeclined
    case .consumptionRequest?: self = .consumptionRequest
    case .revoke?: self = .revoke
    case .renewalExtended?: self = .renewalExtended
    case .renewalExtension?: self = .renewalExtension(subtype)
    case .externalPurchaseToken?: self = .externalPurchaseToken(subtype)
    case .oneTimeCharge?: self = .oneTimeCharge
    case .rescindConsent?: self = .rescindConsent
    case .metadataUpdate?: self = .metadataUpdate
    case .migration?: self = .migration
    case .priceChange?: self = .priceChange
    case .test?: self = .test
    default: self = .unrecognized(type?.rawValue, subtype)
    }
  }
}
