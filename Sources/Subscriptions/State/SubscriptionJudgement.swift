// Decides the status of a subscription from Apple's last statement and the newest known period, and whether the two can
// be true together.

internal import AppStore

extension Subscription {
  /// Returns the status, and the part that the reports do not explain.
  ///
  /// - Apple's last statement decides. It can be about another period than the newest known one: a refund of last year,
  ///   or the first notification after a gap.
  /// - A revocation ends only its own transaction. A status that was signed before a revocation of the same period does
  ///   not override it.
  /// - If the newest known period cannot be the present one, Apple's status stays, and the period is unknown.
  static func judgement(
    of period: Period, _ renewal: RenewalSettings?, _ statement: Statement
  ) -> (status: Status, uncertainty: Uncertainty?) {
    let time = statement.signedDate
    guard let status = statement.status.flatMap({ Status($0) }) else {
      return derived(from: period, renewal, at: time)
    }
    let isAboutPeriod = statement.isAbout(period)
    if isAboutPeriod, period.revocationDate != nil, statement.transactionSignedDate ?? time < period.signedDate {
      return (.revoked, nil)
    }
    switch status {
    case .active:
      guard period.isRunning(at: time) else { return (status, .period) }
      return (status, period.expiresDate == nil ? .end : nil)
    case .gracePeriod:
      let isPossible = period.revocationDate == nil && period.canBe(inRetryFor: longestGracePeriod, at: time)
      guard isPossible else { return (status, .period) }
      return (status, renewal?.graceEnd(after: period.expiresDate) == nil ? .end : nil)
    case .billingRetry:
      let isPossible = isAboutPeriod || !period.isRunning(at: time)
      return (status, isPossible && period.canBe(inRetryFor: longestBillingRetry, at: time) ? nil : .period)
    case .expired:
      return (status, isAboutPeriod || !period.isRunning(at: time) ? nil : .period)
    case .revoked:
      guard !isAboutPeriod, period.isRunning(at: time) else { return (status, nil) }
      return (.active, .period)
    }
  }

  /// Derives a status from the signed values, for a statement that names none.
  private static func derived(
    from period: Period, _ renewal: RenewalSettings?, at time: Timestamp
  ) -> (status: Status, uncertainty: Uncertainty?) {
    if period.isRunning(at: time) { return (.active, period.expiresDate == nil ? .end : nil) }
    // The renewal info knows a later period.
    if let next = renewal?.renewalDate, next > time, period.expiresDate.map({ next > $0 }) ?? false {
      return (.active, .period)
    }
    if period.revocationDate != nil { return (.revoked, nil) }
    guard let expires = period.expiresDate, expires <= time else { return (.active, .period) }
    if let grace = renewal?.graceEnd(after: expires), grace > time { return (.gracePeriod, nil) }
    return (renewal?.isInBillingRetry == true ? .billingRetry : .expired, nil)
  }
}

extension Period {
  /// Whether Apple can try to renew the period at a time, if it tries for so long after the end.
  fileprivate func canBe(inRetryFor length: Duration, at time: Timestamp) -> Bool {
    !isUpgraded && expiresDate.map { $0 + length >= time } ?? true
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
}
