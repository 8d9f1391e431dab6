// What happens by itself at its time. An event that finds things changed since it was planned does nothing.

internal import AppStore

extension WorldState {
  /// Carries out an event; an action is not one of the world's own and is given back.
  mutating func process(
    _ event: WorldEvent, at now: Timestamp
  ) throws(WorldError) -> (@Sendable (World, Timestamp) -> Void)? {
    lastEvent = max(lastEvent, now)
    switch event {
    case .renewalDue(let original, let end):
      guard let subscription = running(original, until: end) else { return nil }
      switch ending(of: subscription) {
      case .renewed: try renew(original, at: now)
      // Where there is a grace period, billing that refuses is told at once: for what is left of the period the renewal
      // date can still be extended.
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
    if !subscription.renews { return .expired(.customerCancelled) }
    if realms[customers[subscription.customer].realm].notForSale.contains(subscription.nextProduct) {
      return .expired(.productNotAvailable)
    }
    if subscription.priceIncrease?.isAccepted == false { return .expired(.customerDidNotConsentToPriceIncrease) }
    let course = behaviour.period(
      seed: seed, subscription: subscription.originalTransactionId, transaction: subscription.transactionId)
    return course.billingFails ? .billingFailed : .renewed
  }
}
