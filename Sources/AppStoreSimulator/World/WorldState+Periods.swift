// Subscription periods: their beginning, renewal, billing failure, recovery and end.

package import AppStore

extension WorldState {
  /// Apple's billing retry period.
  static let retryPeriod = Duration.seconds(60 * 86_400)
  /// The longest gap in paid service after which `recentSubscriptionStartDate` stays the same. A grace period and billing
  /// retry count as a gap.
  static func longestGap(in environment: AppStoreEnvironment) -> Duration {
    environment == .sandbox ? .seconds(600) : .seconds(60 * 86_400)
  }
  /// The longest observed time between Apple's renewal and the end of the period.
  static let longestLead = Duration.seconds(54)

  /// Starts a period and schedules the event at its end.
  @discardableResult
  mutating func beginPeriod(
    _ original: Int64, id: Int64, product index: Int, offer: Int?, reason: TransactionReason, from start: Timestamp,
    at now: Timestamp
  ) -> Int64 {
    guard var subscription = subscriptions[original] else { return id }
    let product = app(of: subscription.customer).products[index]
    let period = offer.map { product.offers[$0].period } ?? product.period
    let price = price(of: product, offer: offer, reason: reason, for: subscription)
    let commitment = subscription.commitment(of: product, offer: offer, reason: reason, price: price.now, from: start)
    let environment = realms[customers[subscription.customer].realm].environment
    if now - paidUntil(subscription) > Self.longestGap(in: environment) { subscription.started = start }
    subscription.product = index
    subscription.transactionId = id
    subscription.status = .active
    subscription.expires = commitment.flatMap { $0.isLast ? $0.ends : nil } ?? period.end(from: start)
    subscription.graceExpires = nil
    subscription.retryEnds = nil
    subscription.expirationIntent = nil
    subscription.commitment = commitment
    subscription.hasPaidPeriod = subscription.hasPaidPeriod || price.now > 0
    // What the customer has chosen for the next commitment waits until the present one ends.
    if commitment.map({ $0.number == 1 }) ?? true {
      subscription.nextProduct = index
      subscription.nextOffer = nil
      subscription.renews = true
      subscription.priceIncrease = nil
      subscription.renewalPrice = price.later
    }
    subscriptions[original] = subscription
    insert(
      TransactionFacts(
        id: id, originalId: original, webOrderLineItemId: takeLineItemId(), orderId: takeOrderId(),
        customer: subscription.customer, product: index, purchaseDate: start,
        originalPurchaseDate: subscription.originalPurchaseDate, expires: subscription.expires, quantity: 1,
        reason: reason, ownership: subscription.ownership, offer: offer, price: price.now, commitment: commitment,
        appAccountToken: subscription.appAccountToken, modified: now))
    planEnd(of: original)
    planCancellation(of: original, at: now)
    return id
  }

  /// The price of a period that follows the current one, and of those after it.
  private func price(
    of product: Product, offer: Int?, reason: TransactionReason, for subscription: SubscriptionFacts
  ) -> (now: Int64, later: Int64) {
    let isPending = subscription.priceIncrease?.isAccepted == false
    if let offer {
      let increased = isPending ? nil : subscription.priceIncrease?.price
      return (product.offers[offer].price, increased ?? subscription.advancedCommerce?.price ?? product.price)
    }
    // A renewal costs what the renewal info has announced, unless the customer has not consented.
    let isAnnounced = reason == .renewal && (!isPending || subscription.isCommitted)
    let price =
      isAnnounced ? subscription.billedPrice : subscription.advancedCommerce?.price ?? product.price
    return (price, price)
  }

  /// The end of the service that the customer has paid for.
  private func paidUntil(_ subscription: SubscriptionFacts) -> Timestamp {
    let revoked = transactions[subscription.transactionId]?.revocationDate
    return min(subscription.expires, revoked ?? subscription.expires)
  }

  /// Schedules the renewal or end of the current period. Events scheduled for an earlier end date then have no effect.
  mutating func planEnd(of original: Int64) {
    // A family member's subscription follows the purchaser's.
    guard let subscription = subscriptions[original], subscription.sharedBy == nil,
      let transaction = transactions[subscription.transactionId]
    else { return }
    let end = subscription.expires
    // Events in the customers' past do not happen.
    if let horizon, end <= horizon { return }
    let length = end - transaction.purchaseDate
    let course = behaviour.period(seed: seed, subscription: original, transaction: transaction.id)
    let lead = min(Self.longestLead, length / 20) * Double(course.lead) / 1_000
    events.add(.renewalDue(original, periodEnd: end), at: end - lead)
  }

  /// Schedules the customer's cancellation, once for each period. An extension neither cancels nor repeats it. After a
  /// recovery in a grace period, part of the period is over.
  private mutating func planCancellation(of original: Int64, at now: Timestamp) {
    guard let subscription = subscriptions[original], subscription.sharedBy == nil,
      let transaction = transactions[subscription.transactionId]
    else { return }
    let course = behaviour.period(seed: seed, subscription: original, transaction: transaction.id)
    guard let part = course.cancellation else { return }
    let start = max(transaction.purchaseDate, now)
    guard start < subscription.expires else { return }
    let moment = start + (subscription.expires - start) * (part * 0.9)
    if let horizon, moment <= horizon { return }
    events.add(.cancels(original, transaction: transaction.id), at: moment)
  }

  /// Renews a subscription: DID_RENEW, or DID_RENEW/BILLING_RECOVERY after a failure.
  ///
  /// An early renewal starts the new period at the end of the current one, so its `purchaseDate` is in the future.
  @discardableResult
  package mutating func renew(_ original: Int64, at now: Timestamp) throws(WorldError) -> Int64 {
    let subscription = try self.subscription(original)
    guard subscription.status != .expired, subscription.status != .revoked else {
      throw .impossible("subscription \(original) has ended; resubscribe instead")
    }
    let isRecovery = subscription.retryEnds != nil
    // In a grace period, the new period follows the old one. After it, the new period starts now.
    let keepsDate = !isRecovery || subscription.status == .billingGracePeriod
    let id = beginPeriod(
      original, id: takeTransactionId(), product: subscription.billedProduct, offer: subscription.billedOffer,
      reason: .renewal, from: keepsDate ? subscription.expires : now, at: now)
    announce(.didRenew, isRecovery ? .billingRecovery : nil, of: original, at: now)
    return id
  }

  /// Fails the billing of a renewal: DID_FAIL_TO_RENEW. The subscription enters billing retry, with a grace period if
  /// the product has one.
  ///
  /// - Parameter left: the time left in the current period. Without a grace period it must be zero, because a running
  ///   period cannot have the status of billing retry.
  package mutating func failToRenew(
    _ original: Int64, endingIn left: Duration = .zero, at now: Timestamp
  ) throws(WorldError) {
    var subscription = try self.subscription(original)
    guard subscription.status == .active else { throw .impossible("subscription \(original) is not active") }
    let grace = gracePeriod(of: subscription)
    guard grace != nil || left == .zero else {
      throw .impossible("the product of subscription \(original) has no grace period")
    }
    let course = behaviour.period(seed: seed, subscription: original, transaction: subscription.transactionId)
    let end = min(subscription.expires, now + left)
    let retryEnds = end + Self.retryPeriod
    subscription.expires = end
    subscription.status = grace == nil ? .billingRetry : .billingGracePeriod
    subscription.graceExpires = grace.map { end + $0 }
    subscription.retryEnds = retryEnds
    subscription.expirationIntent = .billingError
    setEnd(of: &subscription, at: now)
    if let grace = subscription.graceExpires { events.add(.graceEnds(original, at: grace), at: grace) }
    events.add(.retryEnds(original, at: retryEnds), at: retryEnds)
    if let recovery = course.recovery {
      events.add(.recovers(original, periodEnd: end), at: now + recovery)
    }
    announce(.didFailToRenew, grace == nil ? nil : .gracePeriod, of: original, at: now)
  }

  /// The billing grace period of a subscription's product; nil if the team has not enabled it.
  func gracePeriod(of subscription: SubscriptionFacts) -> Duration? {
    app(of: subscription.customer).products[subscription.product].gracePeriod
  }

  /// Ends the billing grace period without a renewal: GRACE_PERIOD_EXPIRED.
  mutating func endGracePeriod(_ original: Int64, at now: Timestamp) throws(WorldError) {
    let subscription = try self.subscription(original)
    guard subscription.status == .billingGracePeriod else {
      throw .impossible("subscription \(original) is not in a grace period")
    }
    subscriptions[original]?.status = .billingRetry
    subscriptions[original]?.graceExpires = nil
    announce(.gracePeriodExpired, of: original, at: now)
  }

  /// Ends the subscription: EXPIRED, with the subtype for the reason.
  package mutating func expire(_ original: Int64, _ intent: ExpirationIntent, at now: Timestamp) throws(WorldError) {
    var subscription = try self.subscription(original)
    guard subscription.status != .expired, subscription.status != .revoked else {
      throw .impossible("subscription \(original) has already ended")
    }
    subscription.status = .expired
    subscription.renews = false
    subscription.commitment = nil
    subscription.expirationIntent = intent
    subscription.expires = min(subscription.expires, now)
    subscription.graceExpires = nil
    subscription.retryEnds = nil
    setEnd(of: &subscription, at: now)
    let subtype: Subtype? =
      switch intent {
      case .customerCancelled: .voluntary
      case .billingError: .billingRetry
      case .customerDidNotConsentToPriceIncrease: .priceIncrease
      case .productNotAvailable: .productNotForSale
      default: nil
      }
    announce(.expired, subtype, of: original, at: now)
  }

  /// Turns auto-renewal on or off: DID_CHANGE_RENEWAL_STATUS. Does nothing if there is no change. Within a commitment, this
  /// is about the renewal of the commitment, and billing continues until it ends.
  package mutating func setRenewal(_ original: Int64, isOn: Bool, at now: Timestamp) throws(WorldError) {
    let subscription = try self.subscription(original)
    guard subscription.renews != isOn else { return }
    subscriptions[original]?.renews = isOn
    announce(.didChangeRenewalStatus, isOn ? .autoRenewEnabled : .autoRenewDisabled, of: original, at: now)
  }

  /// Stores a subscription whose period ended earlier than scheduled, and updates its transaction.
  mutating func setEnd(of subscription: inout SubscriptionFacts, at now: Timestamp) {
    subscriptions[subscription.originalTransactionId] = subscription
    if transactions[subscription.transactionId]?.expires != subscription.expires {
      transactions[subscription.transactionId]?.expires = subscription.expires
      transactions[subscription.transactionId]?.modified = now
    }
  }
}
