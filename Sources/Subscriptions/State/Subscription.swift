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

  var status: Status
  /// The current period.
  var period: Period
  var renewal: RenewalSettings?
  /// The last statement by Apple.
  var statement: Statement

  init(current: Period, renewal: RenewalSettings?, statement: Statement) {
    period = current
    self.renewal = renewal
    self.statement = statement
    status =
      statement.status.flatMap { Status($0) }
      ?? Status(of: current, renewal: renewal, at: statement.signedDate)
  }

  /// The end of the grace period, if the subscription is in one.
  var gracePeriodExpiresDate: Timestamp? { status == .gracePeriod ? renewal?.gracePeriodExpiresDate : nil }

  /// The time up to which the customer has paid or Apple grants access; nil if the transaction names none.
  var end: Timestamp? {
    guard let expires = period.expiresDate else { return gracePeriodExpiresDate }
    return gracePeriodExpiresDate.map { max($0, expires) } ?? expires
  }

  /// Whether the customer may use the product. The margin allows for a renewal that is reported late.
  func isEntitled(at now: Timestamp, margin: Duration) -> Bool {
    guard status == .active || status == .gracePeriod else { return false }
    return end.map { now < $0 + margin } ?? true
  }

  /// The time at which Apple has to be asked, unless a report explains the end before; nil if no end is expected.
  func nextQuestion(margin: Duration) -> Timestamp? {
    switch status {
    case .active, .gracePeriod: end.map { $0 + margin }
    case .billingRetry: end.map { $0 + Self.longestBillingRetry + margin }
    case .expired, .revoked: nil
    }
  }

  /// How long Apple tries to collect a payment (App Store Connect, billing retry).
  static let longestBillingRetry = Duration.seconds(60 * 86_400)

  /// Whether Apple will renew the subscription.
  var renews: Bool { renewal?.autoRenewStatus == .on }

  /// The product of the next period, if it differs from the current one.
  var scheduledProduct: String? {
    guard let next = renewal?.productId, next != renewal?.currentProductId ?? period.productId else { return nil }
    return next
  }
}

extension Subscription.Status {
  /// Creates the value of Apple's status; nil for a status that Millrace does not know.
  init?(_ status: AppStore.Status) {
    switch status {
    case .active: self = .active
    case .expired: self = .expired
    case .billingRetry: self = .billingRetry
    case .billingGracePeriod: self = .gracePeriod
    case .revoked: self = .revoked
    default: return nil
    }
  }

  /// Derives a status from the signed values, for a statement that names none.
  init(of period: Period, renewal: RenewalSettings?, at signedDate: Timestamp) {
    if period.revocationDate != nil {
      self = .revoked
    } else if let expires = period.expiresDate, expires <= signedDate {
      if let grace = renewal?.gracePeriodExpiresDate, grace > signedDate {
        self = .gracePeriod
      } else {
        self = renewal?.isInBillingRetry == true ? .billingRetry : .expired
      }
    } else {
      self = .active
    }
  }
}
