// Processes scheduled events. An event does nothing if the state has changed since it was scheduled.

internal import AppStore

extension WorldState {
  /// Processes an event. An `action` is returned, so that the caller runs it outside the lock.
  mutating func process(
    _ event: WorldEvent, at now: Timestamp
  ) throws(WorldError) -> (@Sendable (World, Timestamp) -> Void)? {
    lastEvent = max(lastEvent, now)
    switch event {
    case .renewalDue(let original, let end):
      guard let subscription = running(original, until: end) else { return nil }
      switch ending(of: subscription) {
      case .renewed: try renew(original, at: now)
      // With a grace period, the billing failure is sent immediately. The renewal date can then still be extended for
      // the rest of the period.
      case .billingFailed where gracePeriod(of: subscription) != nil && end > now:
        try failToRenew(original, endingIn: end - now, at: now)
      case .billingFailed, .expired: events.add(.periodEnds(original, periodEnd: end), at: end)
      }
    case .periodEnds(let original, let end):
      guard let subscription = running(original, until: end) else { return nil }
      switch ending(of: subscription) {
      case .renewed: try renew(original, at: now)
      case .billingFailed: try failToRenew(original, at: now)
      case .expired(let intent): try expire(original, intent, at: now)
      }
    case .cancels(let original, let transaction):
      guard let subscription = subscriptions[original], subscription.status == .active,
        subscription.transactionId == transaction
      else { return nil }
      try setRenewal(original, isOn: false, at: now)
    case .recovers(let original, let end):
      guard let subscription = subscriptions[original], subscription.retryEnds != nil, subscription.expires == end
      else { return nil }
      try renew(original, at: now)
    case .graceEnds(let original, let date):
      guard subscriptions[original]?.graceExpires == date else { return nil }
      try endGracePeriod(original, at: now)
    case .retryEnds(let original, let date):
      guard subscriptions[original]?.retryEnds == date else { return nil }
      try expire(original, .billingError, at: now)
    case .action(let action):
      return action
    }
    return nil
  }

  private enum Ending {
    case renewed
    case billingFailed
    case expired(ExpirationIntent)
  }

  private func running(_ original: Int64, until end: Timestamp) -> SubscriptionFacts? {
    guard let subscription = subscriptions[original], subscription.status == .active, subscription.expires == end else {
      return nil
    }
    return subscription
  }

  private func ending(of subscription: SubscriptionFacts) -> Ending {
    if !subscription.bills { return .expired(.customerCancelled) }
    if realms[customers[subscription.customer].realm].notForSale.contains(subscription.billedProduct) {
      return .expired(.productNotAvailable)
    }
    if subscription.priceIncrease?.isAccepted == false, !subscription.isCommitted {
      return .expired(.customerDidNotConsentToPriceIncrease)
    }
    let course = behaviour.period(
      seed: seed, subscription: subscription.originalTransactionId, transaction: subscription.transactionId)
    return course.billingFails ? .billingFailed : .renewed
  }
}
