public import AppStore

/// A notification type and one of the subtypes that Apple documents for it.
public struct SampleKind: Sendable, Hashable, CustomStringConvertible {
  /// `notificationType`.
  public var type: NotificationTypeV2
  /// `subtype`; nil if Apple omits the member.
  public var subtype: Subtype?

  /// A type with a subtype, which need not be documented.
  public init(_ type: NotificationTypeV2, _ subtype: Subtype? = nil) {
    self.type = type
    self.subtype = subtype
  }

  /// `TYPE` or `TYPE/SUBTYPE`.
  public var description: String {
    subtype.map { "\(type.rawValue)/\($0.rawValue)" } ?? type.rawValue
  }

  /// Every type with all its subtypes, according to Apple's `notificationType` page or its older overview of V1 and V2.
  public static let all: [SampleKind] = documented.flatMap { type, subtypes in
    subtypes.map { SampleKind(NotificationTypeV2(rawValue: type), $0.map { Subtype(rawValue: $0) }) }
  }

  private static let documented: KeyValuePairs<String, [String?]> = [
    "SUBSCRIBED": ["INITIAL_BUY", "RESUBSCRIBE"],
    "DID_RENEW": [nil, "BILLING_RECOVERY"],
    "DID_CHANGE_RENEWAL_PREF": [nil, "UPGRADE", "DOWNGRADE"],
    "DID_CHANGE_RENEWAL_STATUS": ["AUTO_RENEW_ENABLED", "AUTO_RENEW_DISABLED"],
    "OFFER_REDEEMED": [nil, "UPGRADE", "DOWNGRADE", "INITIAL_BUY", "RESUBSCRIBE"],
    "EXPIRED": [nil, "VOLUNTARY", "BILLING_RETRY", "PRICE_INCREASE", "PRODUCT_NOT_FOR_SALE"],
    "DID_FAIL_TO_RENEW": [nil, "GRACE_PERIOD"],
    "GRACE_PERIOD_EXPIRED": [nil],
    "PRICE_INCREASE": ["PENDING", "ACCEPTED"],
    "REFUND": [nil],
    "REFUND_REVERSED": [nil],
    "REFUND_DECLINED": [nil],
    "CONSUMPTION_REQUEST": [nil],
    "REVOKE": [nil],
    "RENEWAL_EXTENDED": [nil],
    "RENEWAL_EXTENSION": ["SUMMARY", "FAILURE"],
    "EXTERNAL_PURCHASE_TOKEN": ["UNREPORTED", "CREATED", "ACTIVE_TOKEN_REMINDER"],
    "ONE_TIME_CHARGE": [nil],
    "RESCIND_CONSENT": [nil],
    "METADATA_UPDATE": [nil],
    "MIGRATION": [nil],
    "PRICE_CHANGE": [nil],
    "TEST": [nil],
  ]
}
