// A subscription as consumers see it: the answer to "is this customer subscribed?".

internal import AppStore

/// The state of a subscription at the time of Apple's last statement about it.
struct Subscription: Sendable, Hashable {
  /// The status of a subscription, as in Apple's `data.status`.
  enum Status: String, Sendable, Hashable, CaseIterable {
    case active
    case gracePeriod = "grace-period"
    case billingRetry = "billing-retry"
    case expired
    case revoked
  }

  /// A part of the state that the reports do not explain. The worker asks Apple.
  enum Uncertainty: String, Sendable, Hashable, CaseIterable {
    /// The newest known period cannot be the present one.
    case period
    /// Apple grants access, and no report names its end.
    case end
    /// An older report has a revocation of the period that a newer one lacks, and no report reverses it.
    case revocation
  }

  var status: Status
  /// The current period: the newest one that is known.
  var period: Period
  var renewal: RenewalSettings?
  /// The last statement by Apple.
  var statement: Statement
  /// The part that no report explains; nil if there is none.
  var uncertainty: Uncertainty?

  init(current: Period, renewal: RenewalSettings?, statement: Statement) {
    period = current
    self.renewal = renewal
    self.statement = statement
    (status, uncertainty) = Self.judgement(of: current, renewal, statement)
    if uncertainty == nil, status == .active || status == .gracePeriod, let revoked = current.missingRevocation,
      current.signedDate < revoked + Self.revocationSettles
    {
      uncertainty = .revocation
    }
  }

  /// The product of the present period. If that period is unknown, only the renewal info names it.
  var productId: String? {
    uncertainty == .period ? renewal?.currentProductId ?? period.productId : period.productId
  }

  /// The end of the grace period, if the subscription is in one and a report names its end.
  var gracePeriodExpiresDate: Timestamp? {
    status == .gracePeriod ? renewal?.graceEnd(after: uncertainty == .period ? nil : period.expiresDate) : nil
  }

  /// The time up to which the customer has paid or Apple grants access; nil if no report names one.
  var end: Timestamp? {
    if uncertainty == .period || uncertainty == .end { return assumedEnd }
    guard let expires = period.expiresDate else { return gracePeriodExpiresDate }
    return gracePeriodExpiresDate.map { max($0, expires) } ?? expires
  }

  /// The end if the present period or its end is unknown. It follows from signed dates only, so that a replay leads to
  /// the same end.
  private var assumedEnd: Timestamp {
    let stated = status == .gracePeriod ? gracePeriodExpiresDate : renewal?.renewalDate
    if let stated, stated > statement.signedDate { return stated }
    guard status == .active else { return statement.signedDate + Self.longestGracePeriod }
    // Without a renewal date, the unknown period is assumed to be as long as the known one.
    let length = period.expiresDate.map { $0 - period.purchaseDate } ?? .zero
    return statement.signedDate + (length > .zero ? length : Self.longestGracePeriod)
  }

  /// The question that Apple has to be asked, unless a report explains the state before; nil if the state is explained
  /// and no end is expected.
  func question(margin: Duration) -> Question? {
    if uncertainty == .period || uncertainty == .end { return Question(at: lastKnown, isUrgent: true) }
    // Apple's first answer after a refund may not contain it yet.
    if uncertainty == .revocation, let revoked = period.missingRevocation { return Question(at: revoked + margin) }
    let time: Timestamp? =
      switch status {
      case .active, .gracePeriod: end.map { $0 + margin }
      case .billingRetry: (end ?? statement.signedDate) + Self.longestBillingRetry + margin
      case .expired, .revoked: nil
      }
    return time.map { Question(at: $0) }
  }

  /// The time since which the reports do not explain the state.
  private var lastKnown: Timestamp {
    let ends = [period.revocationDate, period.expiresDate].compactMap(\.self).filter { $0 <= statement.signedDate }
    return ends.min() ?? period.purchaseDate
  }

  /// A newer report that lacks a revocation counts if Apple signed it so long after the revocation.
  static let revocationSettles = Duration.seconds(86_400)
  /// How long Apple tries to collect a payment (App Store Connect, billing retry).
  static let longestBillingRetry = Duration.seconds(60 * 86_400)
  /// The longest grace period that a team can choose (App Store Connect, billing grace period).
  static let longestGracePeriod = Duration.seconds(28 * 86_400)

  /// The product of the next period, if it differs from the current one.
  var scheduledProduct: String? {
    guard let next = renewal?.productId, next != renewal?.currentProductId ?? period.productId else { return nil }
    return next
  }
}

/// A question to Apple about a subscription.
struct Question: Sendable, Hashable {
  /// The time from which Apple's answer can explain the state.
  var at: Timestamp
  /// Whether the state is already unexplained, so that the worker asks at once.
  var isUrgent = false

  /// Returns the time at which the worker asks.
  /// - Parameters:
  ///   - isAgain: Whether Apple has just been asked. The worker then asks less and less often.
  ///   - margin: The shortest time between two questions.
  func time(now: Timestamp, isAgain: Bool, margin: Duration) -> Timestamp {
    if isUrgent {
      return isAgain ? now + max(margin, min((now - at) / 4, Self.longestUrgentPause)) : now
    }
    // A notification that explains an end that has passed may be on its way, above all in a replay.
    return max(at, now + max(margin, isAgain ? (now - at) / 4 : .zero))
  }

  /// The longest time between two questions about a state that is unexplained now.
  static let longestUrgentPause = Duration.seconds(86_400)
}
