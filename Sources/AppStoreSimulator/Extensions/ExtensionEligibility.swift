// Eligibility for an extension, according to "Extending the renewal date for auto-renewable subscriptions".

internal import AppStore

/// The facts that decide whether a subscription can be extended.
struct ExtensionFacts: Sendable, Hashable {
  var status: Status
  var ownership: InAppOwnershipType
  /// Whether the current period is a free offer: a trial or a free offer code.
  var isInFreeOffer: Bool
  /// Whether any period, current or earlier, was paid for.
  var hasPaidPeriod: Bool
  var expires: Timestamp
  /// The times of earlier extensions.
  var extensions: [Timestamp]

  /// "Twice within a year (365 days)".
  static let extensionsPerYear = 2
  static let year = Duration.seconds(365 * 86_400)

  /// Returns the reason the subscription cannot be extended now; nil if it can.
  func refusal(now: Timestamp) -> APIFailure? {
    if ownership == .familyShared { return .familySharedSubscriptionExtensionIneligible }
    switch status {
    case .active where expires > now: break
    case .billingGracePeriod where expires > now: break
    default: return .subscriptionExtensionIneligible
    }
    if isInFreeOffer || !hasPaidPeriod { return .subscriptionExtensionIneligible }
    if extensions.count(where: { now - $0 < Self.year }) >= Self.extensionsPerYear { return .subscriptionMaxExtension }
    return nil
  }
}
