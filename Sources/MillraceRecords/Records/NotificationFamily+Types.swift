// The families of Apple's types, as the topic files that Millrace ships route them. Samples and the test kit use them; the
// ingress reads the topic files.

package import AppStore

extension NotificationFamily {
  /// The types of each family.
  package static let types: [NotificationFamily: Set<NotificationTypeV2>] = [
    .subscriptions: [
      .subscribed, .didRenew, .didChangeRenewalPref, .didChangeRenewalStatus, .offerRedeemed, .expired,
      .didFailToRenew, .gracePeriodExpired, .priceIncrease,
    ],
    .purchases: [.oneTimeCharge],
    .refunds: [.refund, .refundDeclined, .refundReversed, .revoke],
    .renewalExtensions: [.renewalExtended, .renewalExtension],
    .consumptionRequests: [.consumptionRequest],
    .externalPurchases: [.externalPurchaseToken],
    .advancedCommerce: [.metadataUpdate, .migration, .priceChange],
    .consent: [.rescindConsent],
    .tests: [.test],
  ]

  /// Returns the family of a type; ``unrecognized`` if no family has it.
  package static func of(_ type: NotificationTypeV2) -> NotificationFamily {
    types.first { $0.value.contains(type) }?.key ?? .unrecognized
  }
}
