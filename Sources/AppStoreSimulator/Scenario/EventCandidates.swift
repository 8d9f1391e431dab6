// Selects the customers that an event applies to and performs the event's action on them.

internal import AppStore

/// A customer with the subscription or transaction that an event applies to.
struct EventCandidate: Sendable {
  let customer: CustomerID
  let subscription: Int64?
  let transaction: Int64?
}

extension WorldState {
  func realm(_ target: ScenarioEvent.Target) -> RealmID? {
    realms.firstIndex { realm in
      (target.bundleId == nil || target.bundleId == realm.app.bundleId)
        && (target.environment == nil || target.environment == realm.environment)
    }
  }

  /// Returns the customer at an index of the realm, or nil if the event does not apply to that customer.
  func candidate(_ event: ScenarioEvent, at place: Int, in realm: RealmID) -> EventCandidate? {
    let id = realms[realm].customers[place]
    let customer = customers[id]
    if let storefronts = event.target.storefronts, !storefronts.contains(customer.storefront) { return nil }
    let products = realms[realm].app.products
    let subscription = customer.subscriptions.first { original in
      guard let subscription = subscriptions[original] else { return false }
      return event.target.productId.map { products[subscription.product].productId == $0 } ?? true
    }
    let transaction = customer.transactions.last { id in
      guard let transaction = transactions[id] else { return false }
      return event.target.productId.map { products[transaction.product].productId == $0 } ?? true
    }
    return EventCandidate(customer: id, subscription: subscription, transaction: transaction)
  }

  /// Performs an action on a candidate.
  ///
  /// - Returns: false if the candidate is not in a state that the action applies to.
  mutating func perform(
    _ action: ScenarioAction, for candidate: EventCandidate, at now: Timestamp
  ) throws(WorldError) -> Bool {
    if try performOnPurchase(action, for: candidate, at: now) { return true }
    guard let original = candidate.subscription else { return false }
    let subscription = try self.subscription(original)
    // A family member's subscription follows the purchaser's.
    guard subscription.sharedBy == nil else { return false }
    switch action {
    case .renew: try renew(original, at: now)
    case .failToRenew(let left): try failToRenew(original, endingIn: left, at: now)
    case .recover:
      guard subscription.retryEnds != nil else { return false }
      try renew(original, at: now)
    case .expire(let intent): try expire(original, intent, at: now)
    case .setRenewal(let isOn):
      guard subscription.renews != isOn, subscription.givesService else { return false }
      try setRenewal(original, isOn: isOn, at: now)
    case .resubscribe(let product):
      guard !subscription.givesService, subscription.ownership == .purchased else { return false }
      let present = realms[customers[subscription.customer].realm].app.products[subscription.product].productId
      try purchase(product ?? present, by: subscription.customer, at: now)
    case .changePlan(let product): try changePlan(original, to: product, at: now)
    case .redeemOffer(let offer, let product): try redeemOffer(offer, of: product, for: original, at: now)
    case .announcePriceIncrease(let price, let needsConsent):
      guard subscription.priceIncrease == nil else { return false }
      try announcePriceIncrease(original, to: price, needsConsent: needsConsent, at: now)
    case .acceptPriceIncrease: try acceptPriceIncrease(original, at: now)
    case .extendRenewal(let days):
      guard subscription.givesService else { return false }
      try extendRenewal(original, byDays: days, at: now)
    case .failExtension: try failExtension(original, at: now)
    case .migrate: try migrateToAdvancedCommerce(original, at: now)
    case .updateMetadata: try updateMetadata(original, at: now)
    case .changePrice(let price): try changePrice(original, to: price, at: now)
    default: return false
    }
    return true
  }

  private mutating func performOnPurchase(
    _ action: ScenarioAction, for candidate: EventCandidate, at now: Timestamp
  ) throws(WorldError) -> Bool {
    if case .rescindConsent = action {
      guard !customers[candidate.customer].hasRescindedConsent else { return false }
      try rescindConsent(candidate.customer, at: now)
      return true
    }
    guard let id = candidate.transaction else { return false }
    switch action {
    case .refund(let percentage, let reason): try refund(id, percentage: percentage, reason: reason, at: now)
    case .declineRefund:
      guard refundRequests[id] != nil else { return false }
      try declineRefund(id, at: now)
    case .reverseRefund: try reverseRefund(id, at: now)
    case .revoke: try revoke(id, at: now)
    case .share: try share(self.transaction(id).originalId, at: now)
    default: return false
    }
    return true
  }
}
