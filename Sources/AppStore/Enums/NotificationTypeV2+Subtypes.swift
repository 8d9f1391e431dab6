// The subtypes of each notification type. Apple rejects a request for an invalid pair.

extension NotificationTypeV2 {
  /// The subtypes that notifications of this type can have (App Store Server Notifications, `notificationType`),
  /// including those that only Apple's older pages name. Empty for a type without subtypes and for an unknown type.
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
