// Purchases: subscriptions, one-time purchases, offers and plan changes.

package import AppStore

extension WorldState {
  /// Purchases a product: SUBSCRIBED, DID_CHANGE_RENEWAL_PREF or ONE_TIME_CHARGE.
  ///
  /// If the customer has an active subscription in the same group, the purchase changes its plan. If that subscription
  /// has ended, the customer resubscribes.
  ///
  /// - Parameters:
  ///   - offer: the identifier of an offer.
  ///   - ownership: `FAMILY_SHARED` for the purchase of a family member.
  /// - Returns: the transaction; for a change that takes effect at the next renewal, the current one.
  @discardableResult
  package mutating func purchase(
    _ productId: String, by customer: CustomerID, offer offerName: String? = nil, quantity: Int64 = 1,
    ownership: InAppOwnershipType = .purchased, appAccountToken: CompactUUID? = nil, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    guard customers.indices.contains(customer) else { throw .noSuchCustomer }
    let index = try product(named: productId, in: customers[customer].realm)
    let product = app(of: customer).products[index]
    let offer = try offer(named: offerName, of: product)
    guard product.isSubscription else {
      return buyOnce(
        index, by: customer, offer: offer, quantity: quantity, ownership: ownership,
        appAccountToken: appAccountToken, at: now)
    }
    if let original = self.subscription(inGroupOf: product, of: customer, ownership: ownership) {
      let subscription = try self.subscription(original)
      if subscription.givesService {
        guard subscription.product != index else {
          throw .impossible("the customer already has \(productId)")
        }
        return try changePlan(original, to: productId, at: now)
      }
      let transactionId = try resubscribe(original, to: index, offer: offer, at: now)
      announce(
        .subscribed, .resubscribe, of: original, cause: subscription.product == index ? .sameProduct : .itself, at: now)
      return transactionId
    }
    let transactionId = subscribe(
      to: index, by: customer, offer: offer, ownership: ownership, sharedBy: nil, appAccountToken: appAccountToken,
      at: now)
    emit(.subscribed, .initialBuy, about: transactionId, at: now)
    return transactionId
  }

  /// Redeems an offer for an active subscription: OFFER_REDEEMED with UPGRADE or DOWNGRADE for another plan, as in
  /// ``changePlan(_:to:at:)``, and without a subtype for the current plan.
  ///
  /// - Parameter productId: the product of the offer.
  @discardableResult
  package mutating func redeemOffer(
    _ offerName: String, of productId: String, for original: Int64, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    let subscription = try self.subscription(original)
    guard subscription.givesService else {
      throw .impossible("subscription \(original) is not active; resubscribe instead")
    }
    let index = try plan(productId, for: subscription)
    let products = app(of: subscription.customer).products
    let offer = try offer(named: offerName, of: products[index])
    if index != subscription.product, products[subscription.product].changesImmediately(to: products[index]) {
      let transactionId = try upgrade(original, to: index, offer: offer, at: now)
      announce(.offerRedeemed, .upgrade, of: original, at: now)
      return transactionId
    }
    planNext(original, index, offer: offer)
    announce(.offerRedeemed, index == subscription.product ? nil : .downgrade, of: original, at: now)
    return subscription.transactionId
  }

  /// Redeems an offer for a customer without an active subscription: OFFER_REDEEMED with INITIAL_BUY or RESUBSCRIBE.
  /// Apple now sends SUBSCRIBED in this case.
  @discardableResult
  mutating func redeemOfferOldStyle(
    _ offerName: String, of productId: String, by customer: CustomerID, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    guard customers.indices.contains(customer) else { throw .noSuchCustomer }
    let index = try product(named: productId, in: customers[customer].realm)
    let product = app(of: customer).products[index]
    let offer = try offer(named: offerName, of: product)
    guard let original = self.subscription(inGroupOf: product, of: customer, ownership: .purchased) else {
      let transactionId = subscribe(
        to: index, by: customer, offer: offer, ownership: .purchased, sharedBy: nil, appAccountToken: nil, at: now)
      emit(.offerRedeemed, .initialBuy, about: transactionId, at: now)
      return transactionId
    }
    let before = try subscription(original).product
    let transactionId = try resubscribe(original, to: index, offer: offer, at: now)
    announce(.offerRedeemed, .resubscribe, of: original, cause: before == index ? .sameProduct : .itself, at: now)
    return transactionId
  }

  /// Changes the plan of a subscription. An upgrade takes effect immediately, and so does another plan of the same level
  /// and duration. A downgrade, or another duration at the same level, takes effect at the next renewal. Choosing the
  /// current plan cancels a downgrade.
  @discardableResult
  package mutating func changePlan(
    _ original: Int64, to productId: String, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    let subscription = try self.subscription(original)
    guard subscription.givesService else { throw .impossible("subscription \(original) is not active") }
    let index = try plan(productId, for: subscription)
    let products = app(of: subscription.customer).products
    if index == subscription.product {
      planNext(original, index, offer: nil)
      announce(.didChangeRenewalPref, of: original, at: now)
      return subscription.transactionId
    }
    if products[subscription.product].changesImmediately(to: products[index]) {
      let transactionId = try upgrade(original, to: index, offer: nil, at: now)
      announce(.didChangeRenewalPref, .upgrade, of: original, at: now)
      return transactionId
    }
    planNext(original, index, offer: nil)
    announce(.didChangeRenewalPref, .downgrade, of: original, at: now)
    return subscription.transactionId
  }

  /// The customer's subscription in the group of a product, regardless of its status.
  package func subscription(
    inGroupOf product: Product, of customer: CustomerID, ownership: InAppOwnershipType = .purchased
  ) -> Int64? {
    let products = app(of: customer).products
    return customers[customer].subscriptions.first { original in
      guard let subscription = subscriptions[original] else { return false }
      return subscription.ownership == ownership && products[subscription.product].group == product.group
    }
  }
}

extension WorldState {
  mutating func buyOnce(
    _ index: Int, by customer: CustomerID, offer: Int?, quantity: Int64, ownership: InAppOwnershipType,
    appAccountToken: CompactUUID?, at now: Timestamp
  ) -> Int64 {
    let product = app(of: customer).products[index]
    let id = takeTransactionId()
    insert(
      TransactionFacts(
        id: id, originalId: id, webOrderLineItemId: nil, orderId: takeOrderId(), customer: customer, product: index,
        purchaseDate: now, originalPurchaseDate: now, expires: nil, quantity: quantity, reason: .purchase,
        ownership: ownership, offer: offer, price: (offer.map { product.offers[$0].price } ?? product.price) * quantity,
        appAccountToken: appAccountToken, modified: now))
    emit(.oneTimeCharge, about: id, at: now)
    return id
  }

  mutating func subscribe(
    to index: Int, by customer: CustomerID, offer: Int?, ownership: InAppOwnershipType, sharedBy: Int64?,
    appAccountToken: CompactUUID?, at now: Timestamp
  ) -> Int64 {
    let product = app(of: customer).products[index]
    let original = takeTransactionId()
    subscriptions[original] = SubscriptionFacts(
      originalTransactionId: original, customer: customer, ownership: ownership, sharedBy: sharedBy,
      originalPurchaseDate: now, product: index, nextProduct: index, transactionId: original, expires: now,
      renewalPrice: product.price, started: now, appAccountToken: appAccountToken)
    customers[customer].subscriptions.append(original)
    realms[customers[customer].realm].subscriptions.append(original)
    beginPeriod(original, id: original, product: index, offer: offer, reason: .purchase, from: now, at: now)
    return original
  }

  private mutating func resubscribe(
    _ original: Int64, to index: Int, offer: Int?, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    guard !(try subscription(original)).givesService else {
      throw .impossible("subscription \(original) is active; change its plan instead")
    }
    return beginPeriod(
      original, id: takeTransactionId(), product: index, offer: offer, reason: .purchase, from: now, at: now)
  }

  private mutating func upgrade(
    _ original: Int64, to index: Int, offer: Int?, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    let old = try transaction(subscription(original).transactionId)
    // Apple refunds the rest of the old period and shows an upgraded transaction with a revocation date.
    transactions[old.id]?.upgraded = now
    transactions[old.id]?.modified = now
    return beginPeriod(
      original, id: takeTransactionId(), product: index, offer: offer, reason: .purchase, from: now, at: now)
  }

  /// Returns the index of a product that the customer can change to.
  private func plan(_ productId: String, for subscription: SubscriptionFacts) throws(WorldError) -> Int {
    let original = subscription.originalTransactionId
    guard subscription.sharedBy == nil else {
      throw .impossible("subscription \(original) is shared; only its purchaser can change the plan")
    }
    let index = try product(named: productId, in: customers[subscription.customer].realm)
    let products = app(of: subscription.customer).products
    guard products[index].group == products[subscription.product].group else {
      throw .impossible("\(productId) is not in the group of subscription \(original)")
    }
    return index
  }

  private mutating func planNext(_ original: Int64, _ index: Int, offer: Int?) {
    guard let subscription = subscriptions[original] else { return }
    let product = app(of: subscription.customer).products[index]
    subscriptions[original]?.nextProduct = index
    subscriptions[original]?.nextOffer = offer
    subscriptions[original]?.renewalPrice = offer.map { product.offers[$0].price } ?? product.price
    subscriptions[original]?.renews = true
  }
}
