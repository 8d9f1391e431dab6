// Who may have a renewal date extended, by "Extending the renewal date for auto-renewable subscriptions".

internal import AppStore

/// What decides whether a subscription can be extended.
struct ExtensionFacts: Sendable, Hashable {
  var status: Status
  var ownership: InAppOwnershipType
  /// The present period is a free offer: a trial, or an offer code for nothing.
  var isInFreeOffer: Bool
  /// A period was paid for, now or before.
  var hasPaidPeriod: Bool
  var expires: Timestamp
  /// When it was extended so far.
  var extensions: [Timestamp]

  /// "Twice within a year (365 days)".
  static let extensionsPerYear = 2
  static let year = Duration.seconds(365 * 86_400)

  /// Why it cannot be extended now; nil when it can.
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
