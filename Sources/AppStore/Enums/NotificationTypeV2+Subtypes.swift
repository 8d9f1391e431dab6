// Which subtypes a notification type can have: Apple refuses a request for a pair that does not exist.

extension NotificationTypeV2 {
  /// The subtypes that notifications of this type can have (App Store Server Notifications, `notificationType`), those
  /// that only older pages of Apple name included. Empty for a type without subtypes, and for an unknown type.
  public var subtypes: [Subtype] {
    switch self {
    case .subscribed: [.initialBuy, .resubscribe]
    case .didRenew: [.billingRecovery]
    case .didChangeRenewalPref: [.upgrade, .downgrade]
    case .didChangeRenewalStatus: [.autoRenewEnabled, .autoRenewDisabled]
    case .offerRedeemed: [.upgrade, .downgrade, .initialBuy, .resubscribe]
    case .expired: [.voluntary, .billingRetry, .priceIncrease, .productNotForSale]
    case .didFailToRenew: [.gracePeriod]
    case .priceIncrease: [.pending, .accepted]
    case .renewalExtension: [.summary, .failure]
    case .externalPurchaseToken: [.unreported, .created, .activeTokenReminder]
    default: []
    }
  }
}
