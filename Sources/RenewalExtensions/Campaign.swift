// One mass extension as the team asked for it. Apple tells of its failures without naming it: what is here is all there is
// to find out which extension a failure belongs to.

public import AppStore

/// A mass extension of renewal dates and what became of it.
public struct Campaign: Sendable, Hashable, Identifiable {
  /// What is known of the call to Apple.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Written down; whether Apple was asked is not known to whoever reads this.
    case requested
    /// Apple took the request.
    case accepted
    /// Apple was asked, and no answer that can be read came.
    case unclear
    /// Apple refused it: there is no such extension.
    case refused
  }

  /// What Apple said when it was done.
  public struct Completion: Sendable, Hashable {
    /// When.
    public var at: Timestamp
    /// Subscriptions that were extended.
    public var succeeded: Int64
    /// Subscriptions that were not.
    public var failed: Int64

    /// A completion.
    public init(at: Timestamp, succeeded: Int64, failed: Int64) {
      self.at = at
      self.succeeded = succeeded
      self.failed = failed
    }
  }

  /// The end of our own retries.
  public struct Cancellation: Sendable, Hashable {
    /// When.
    public var at: Timestamp
    /// Who.
    public var by: String
    /// Why.
    public var why: String

    /// A cancellation.
    public init(at: Timestamp, by: String, why: String) {
      self.at = at
      self.by = by
      self.why = why
    }
  }

  /// The `requestIdentifier` of the mass extension: a UUID in lower case.
  public var id: String
  /// The app.
  public var bundleId: String
  /// Production or sandbox.
  public var environment: AppStoreEnvironment
  /// The product whose subscribers are extended.
  public var productId: String
  /// By how many days.
  public var days: Int
  /// Why, for Apple.
  public var reason: ExtendReasonCode
  /// The storefronts, ISO 3166-1 alpha-3; nil: all.
  public var storefronts: [String]?
  /// When it was written down first, before Apple was asked.
  public var requestedAt: Timestamp
  /// What is known of the call.
  public var state: State
  /// Apple's error code, where it was refused.
  public var code: Int64?
  /// Who started it.
  public var by: String
  /// What Apple said when it was done; nil before.
  public var completion: Completion?
  /// Set once our own retries were stopped.
  public var cancellation: Cancellation?

  /// A campaign that is about to be started.
  public init(
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

  /// The request to Apple: the same bytes each time it is sent.
  public var request: MassExtendRenewalDateRequest {
    MassExtendRenewalDateRequest(
      extendByDays: days, extendReasonCode: reason, requestIdentifier: id, storefrontCountryCodes: storefronts,
      productId: productId)
  }
}

// The window.
extension Campaign {
  /// How much earlier than the request a failure may be signed: the clocks of two companies.
  public static let windowLead = Duration.seconds(300)
  /// How long after its completion a failure may be signed.
  public static let windowTail = Duration.seconds(3_600)

  /// When the last failure can be signed; nil while Apple is at it.
  public var windowEnd: Timestamp? { completion.map { $0.at + Self.windowTail } }

  /// Whether a notification signed then may be about this campaign. When it arrives does not matter: Apple's last retry
  /// comes 157 hours later.
  public func isOpen(at signedDate: Timestamp) -> Bool {
    state != .refused && signedDate >= requestedAt - Self.windowLead && windowEnd.map { signedDate <= $0 } ?? true
  }

  /// Whether failures of a campaign that starts then could be taken for this one's.
  public func overlaps(_ other: Campaign) -> Bool {
    guard id != other.id, state != .refused, bundleId == other.bundleId, environment == other.environment,
      productId == other.productId
    else { return false }
    if let mine = storefronts, let others = other.storefronts, Set(mine).isDisjoint(with: others) { return false }
    let (first, second) = requestedAt <= other.requestedAt ? (self, other) : (other, self)
    return first.windowEnd.map { $0 >= second.requestedAt - Self.windowLead } ?? true
  }
}
