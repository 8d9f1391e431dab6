// Customers buy: subscriptions, one-time purchases, offers, other plans.

public import AppStore

extension WorldState {
  /// A customer buys a product.
  ///
  /// A subscription in a group in which the customer has an active one changes its plan; in a group in which one has
  /// ended it resubscribes. SUBSCRIBED, DID_CHANGE_RENEWAL_PREF or ONE_TIME_CHARGE.
  ///
  /// - Parameters:
  ///   - offer: an offer's identifier.
  ///   - ownership: `FAMILY_SHARED` for what a family member bought.
  /// - Returns: the transaction; for a change that waits for the next renewal, the present one.
  @discardableResult
  public mutating func purchase(
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
          throw .impossible("the customer has \(productId) already")
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

  /// A customer with an active subscription redeems an offer: OFFER_REDEEMED with UPGRADE for a higher plan, DOWNGRADE
  /// for a lower one, none for the same.
  ///
  /// - Parameter productId: the offer's product.
  @discardableResult
  public mutating func redeemOffer(
    _ offerName: String, of productId: String, for original: Int64, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    let subscription = try self.subscription(original)
    guard subscription.givesService else {
      throw .impossible("subscription \(original) is not active: its customer subscribes again instead")
    }
    let realm = customers[subscription.customer].realm
    let index = try product(named: productId, in: realm)
    let products = realms[realm].app.products
    let offer = try offer(named: offerName, of: products[index])
    if products[index].level > products[subscription.product].level {
      planNext(original, index, offer: offer)
      announce(.offerRedeemed, .downgrade, of: original, at: now)
      return subscription.transactionId
    }
    let isUpgrade = products[index].level < products[subscription.product].level
    if !isUpgrade, index == subscription.product {
      planNext(original, index, offer: offer)
      announce(.offerRedeemed, of: original, at: now)
      return subscription.transactionId
    }
    let transactionId = try upgrade(original, to: index, offer: offer, at: now)
    announce(.offerRedeemed, isUpgrade ? .upgrade : nil, of: original, at: now)
    return transactionId
  }

  /// What Apple sent for an offer redeemed by somebody without an active subscription before SUBSCRIBED took its place:
  /// OFFER_REDEEMED with INITIAL_BUY or RESUBSCRIBE.
  @discardableResult
  public mutating func redeemOfferOldStyle(
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

  /// A customer changes the plan: an upgrade, or a plan of the same level with another period length, takes effect at
  /// once; a downgrade at the next renewal; the present plan takes a downgrade back.
  @discardableResult
  public mutating func changePlan(
    _ original: Int64, to productId: String, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    let subscription = try self.subscription(original)
    guard subscription.givesService else { throw .impossible("subscription \(original) is not active") }
    let realm = customers[subscription.customer].realm
    let index = try product(named: productId, in: realm)
    let products = realms[realm].app.products
    guard products[index].group == products[subscription.product].group else {
      throw .impossible("\(productId) is in another group than subscription \(original)")
    }
    if index == subscription.product {
      planNext(original, index, offer: nil)
      announce(.didChangeRenewalPref, of: original, at: now)
      return subscription.transactionId
    }
    if products[index].level < products[subscription.product].level {
      let transactionId = try upgrade(original, to: index, offer: nil, at: now)
      announce(.didChangeRenewalPref, .upgrade, of: original, at: now)
      return transactionId
    }
    planNext(original, index, offer: nil)
    announce(.didChangeRenewalPref, .downgrade, of: original, at: now)
    return subscription.transactionId
  }

  /// The customer's subscription in the group of a product, whatever its status.
  public func subscription(
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
      throw .impossible("subscription \(original) is active: its customer changes the plan instead")
    }
    subscriptions[original]?.started = now
    return beginPeriod(
      original, id: takeTransactionId(), product: index, offer: offer, reason: .purchase, from: now, at: now)
  }

  private mutating func upgrade(
    _ original: Int64, to index: Int, offer: Int?, at now: Timestamp
  ) throws(WorldError) -> Int64 {
    let old = try transaction(subscription(original).transactionId)
    // The rest of the old period is paid back, which Apple shows as an upgraded transaction with a revocation date.
    transactions[old.id]?.upgraded = now
    transactions[old.id]?.modified = now
    return beginPeriod(
      original, id: takeTransactionId(), product: index, offer: offer, reason: .purchase, from: now, at: now)
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
