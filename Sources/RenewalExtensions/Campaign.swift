// A mass extension as the team requested it. Apple's failure notifications do not name the extension, so this data is
// the only way to match them.

package import AppStore

/// A mass extension of renewal dates and its status.
package struct Campaign: Sendable, Hashable, Identifiable {
  /// The state of the request to Apple.
  package enum State: String, Sendable, Hashable, CaseIterable {
    /// Recorded. Apple may or may not have received the request.
    case requested
    /// Apple accepted the request.
    case accepted
    /// The request was sent, but no readable response arrived.
    case unclear
    /// Apple rejected the request, so there is no such extension.
    case refused
  }

  /// Apple's report of the completion.
  package struct Completion: Sendable, Hashable {
    /// When the extension was completed.
    package var at: Timestamp
    /// The number of subscriptions that were extended.
    package var succeeded: Int64
    /// The number of subscriptions that were not extended.
    package var failed: Int64

    /// Creates a completion.
    package init(at: Timestamp, succeeded: Int64, failed: Int64) {
      self.at = at
      self.succeeded = succeeded
      self.failed = failed
    }
  }

  /// An operator's cancellation of the worker's retries.
  package struct Cancellation: Sendable, Hashable {
    /// When the operator cancelled.
    package var at: Timestamp
    /// The operator.
    package var by: String
    /// The operator's reason.
    package var why: String

    /// Creates a cancellation.
    package init(at: Timestamp, by: String, why: String) {
      self.at = at
      self.by = by
      self.why = why
    }
  }

  /// The `requestIdentifier` of the mass extension: a UUID in lower case.
  package var id: String
  /// The app.
  package var bundleId: String
  /// Production or sandbox.
  package var environment: AppStoreEnvironment
  /// The product whose subscribers are extended.
  package var productId: String
  /// The number of days of the extension.
  package var days: Int
  /// The reason code for Apple.
  package var reason: ExtendReasonCode
  /// The storefronts (ISO 3166-1 alpha-3); nil for all.
  package var storefronts: [String]?
  /// When the campaign was first recorded, before the request was sent.
  package var requestedAt: Timestamp
  /// The state of the request to Apple.
  package var state: State
  /// Apple's error code if the request was refused.
  package var code: Int64?
  /// The operator who started the campaign.
  package var by: String
  /// When the request was sent again because Apple had no such request; nil if never.
  package var resumedAt: Timestamp?
  /// The end of the window that an operator named for an extension that another tool started, and about which Apple
  /// cannot be asked; nil for every other campaign.
  package var until: Timestamp?
  /// When an operator registered it, if another tool had started it; nil if Millrace started it.
  package var adoptedAt: Timestamp?
  /// The last time at which Apple reported the extension as in progress; nil if unknown.
  package var seenAt: Timestamp?
  /// Apple's report of the completion; nil before it.
  package var completion: Completion?
  /// The cancellation of the worker's retries; nil if they are not cancelled.
  package var cancellation: Cancellation?

  /// Creates a campaign in state `requested`.
  package init(
    id: String, bundleId: String, environment: AppStoreEnvironment, productId: String, days: Int,
    reason: ExtendReasonCode, storefronts: [String]?, requestedAt: Timestamp, by: String
  ) {
    self.id = id.lowercased()
    self.bundleId = bundleId
    self.environment = environment
    self.productId = productId
    self.days = days
    self.reason = reason
    self.storefronts = storefronts
    self.requestedAt = requestedAt
    self.state = .requested
    self.by = by
  }

  /// The request to Apple, with the same bytes each time.
  package var request: MassExtendRenewalDateRequest {
    MassExtendRenewalDateRequest(
      extendByDays: days, extendReasonCode: reason, requestIdentifier: id, storefrontCountryCodes: storefronts,
      productId: productId)
  }
}

// The time window for matching failures.
extension Campaign {
  /// How much earlier than the request a failure may be signed, to allow for clock differences.
  static let windowLead = Duration.seconds(300)
  /// How long after the completion a failure may be signed.
  static let windowTail = Duration.seconds(3_600)

  /// The earliest time at which Apple can have received the request.
  package var windowStart: Timestamp { resumedAt ?? requestedAt }

  /// The latest time at which a failure can be signed; nil while the extension is in progress.
  var windowEnd: Timestamp? { completion.map { $0.at + Self.windowTail } ?? until }

  /// The time until which the window is known to be open; nil if nothing proves that Apple has the campaign.
  ///
  /// If Apple reports the campaign as in progress, that holds for one more hour, because the window ends an hour after
  /// the completion.
  var provenUntil: Timestamp? {
    if let windowEnd { return windowEnd }
    return [state == .accepted ? windowStart : nil, seenAt].compactMap(\.self).max().map { $0 + Self.windowTail }
  }

  /// Whether a status from Apple is unnecessary to know that the campaign was in progress at a time inside its window.
  package func isProven(at signedDate: Timestamp) -> Bool {
    completion != nil || provenUntil.map { signedDate <= $0 } ?? false
  }

  /// Whether a notification signed at a given time may be about this campaign, if Apple has it. Its arrival may be
  /// later: Apple's last retry comes after 157 hours.
  package func isOpen(at signedDate: Timestamp) -> Bool {
    state != .refused && signedDate >= windowStart - Self.windowLead && windowEnd.map { signedDate <= $0 } ?? true
  }

  /// Whether failures of another campaign could be attributed to this one.
  package func overlaps(_ other: Campaign) -> Bool {
    guard id != other.id, state != .refused, bundleId == other.bundleId, environment == other.environment,
      productId == other.productId
    else { return false }
    if let mine = storefronts, let others = other.storefronts, Set(mine).isDisjoint(with: others) { return false }
    let (first, second) = requestedAt <= other.requestedAt ? (self, other) : (other, self)
    return first.windowEnd.map { $0 >= second.requestedAt - Self.windowLead } ?? true
  }
}
