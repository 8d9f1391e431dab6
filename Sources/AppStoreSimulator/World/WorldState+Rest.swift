// Prices, external purchase tokens, consent, Advanced Commerce, test notifications, and the two changes a team's server
// can make to a transaction.

package import AppStore
internal import AppStoreSigning

extension WorldState {
  /// Announces a higher price for the next renewals: PRICE_INCREASE/PENDING if the customer has to consent, otherwise
  /// PRICE_INCREASE/ACCEPTED.
  package mutating func announcePriceIncrease(
    _ original: Int64, to price: Int64, needsConsent: Bool, at now: Timestamp
  ) throws(WorldError) {
    let subscription = try self.subscription(original)
    guard subscription.status == .active else { throw .impossible("subscription \(original) is not active") }
    subscriptions[original]?.priceIncrease = PriceIncrease(price: price, isAccepted: !needsConsent)
    // An offer comes first, and the higher price after it.
    if subscription.nextOffer == nil { subscriptions[original]?.renewalPrice = price }
    emit(.priceIncrease, needsConsent ? .pending : .accepted, about: subscription.transactionId, at: now)
  }

  /// Consents to the higher price: PRICE_INCREASE/ACCEPTED.
  package mutating func acceptPriceIncrease(_ original: Int64, at now: Timestamp) throws(WorldError) {
    let subscription = try self.subscription(original)
    guard subscription.priceIncrease?.isAccepted == false else {
      throw .impossible("subscription \(original) has no price increase that needs consent")
    }
    subscriptions[original]?.priceIncrease?.isAccepted = true
    emit(.priceIncrease, .accepted, about: subscription.transactionId, at: now)
  }

  /// Removes a product from sale, or returns it to sale. Subscriptions to a removed product end at their next renewal.
  package mutating func setForSale(_ productId: String, in realm: RealmID, _ isForSale: Bool) throws(WorldError) {
    let index = try product(named: productId, in: realm)
    if isForSale { realms[realm].notForSale.remove(index) } else { realms[realm].notForSale.insert(index) }
  }

  /// Creates a token for external purchases: EXTERNAL_PURCHASE_TOKEN/CREATED.
  @discardableResult
  mutating func createExternalPurchaseToken(
    in realm: RealmID, type: ExternalPurchaseTokenType = .services, at now: Timestamp
  ) -> CompactUUID {
    let token = ExternalPurchaseTokenFacts(
      id: CompactUUID(using: &generator), created: now, expires: now + .seconds(30 * 86_400), type: type)
    // Tokens that the team never reports must not fill the memory, so only the newest are kept.
    if realms[realm].tokens.count >= 1_000 { realms[realm].tokens.removeFirst(500) }
    realms[realm].tokens.append(token)
    emit(SampleKind(.externalPurchaseToken, .created), .token(token), in: realm, at: now)
    return token.id
  }

  /// Sends a reminder about a token: EXTERNAL_PURCHASE_TOKEN/ACTIVE_TOKEN_REMINDER, or UNREPORTED if no report arrived.
  mutating func remindOfExternalPurchaseToken(
    _ id: CompactUUID, in realm: RealmID, isUnreported: Bool, at now: Timestamp
  ) throws(WorldError) {
    guard let token = realms[realm].tokens.last(where: { $0.id == id }) else {
      throw .impossible("no external purchase token \(id.text)")
    }
    emit(
      SampleKind(.externalPurchaseToken, isUnreported ? .unreported : .activeTokenReminder), .token(token),
      in: realm, at: now)
  }

  /// Withdraws a parent's consent to a child's use of the app: RESCIND_CONSENT.
  package mutating func rescindConsent(_ customer: CustomerID, at now: Timestamp) throws(WorldError) {
    guard customers.indices.contains(customer) else { throw .noSuchCustomer }
    customers[customer].hasRescindedConsent = true
    emit(SampleKind(.rescindConsent), .consent(customer), in: customers[customer].realm, at: now)
  }

  /// Requests a test notification: TEST.
  ///
  /// - Returns: `notificationUUID`.
  @discardableResult
  package mutating func requestTest(in realm: RealmID, at now: Timestamp) -> CompactUUID? {
    emit(SampleKind(.test), .test, in: realm, at: now)
  }

  /// Migrates a subscription to the Advanced Commerce API: MIGRATION.
  mutating func migrateToAdvancedCommerce(_ original: Int64, at now: Timestamp) throws(WorldError) {
    let subscription = try self.subscription(original)
    guard subscription.advancedCommerce == nil else {
      throw .impossible("subscription \(original) already belongs to Advanced Commerce")
    }
    subscriptions[original]?.advancedCommerce = AdvancedCommerceFacts(
      reference: CompactUUID(using: &generator), revision: 1, price: subscription.renewalPrice)
    emit(.migration, about: subscription.transactionId, at: now)
  }

  /// Changes the metadata of an Advanced Commerce subscription: METADATA_UPDATE.
  mutating func updateMetadata(_ original: Int64, at now: Timestamp) throws(WorldError) {
    let subscription = try advancedCommerce(original)
    subscriptions[original]?.advancedCommerce?.reference = CompactUUID(using: &generator)
    subscriptions[original]?.advancedCommerce?.revision += 1
    emit(.metadataUpdate, about: subscription.transactionId, at: now)
  }

  /// Changes the price of an Advanced Commerce subscription: PRICE_CHANGE.
  mutating func changePrice(_ original: Int64, to price: Int64, at now: Timestamp) throws(WorldError) {
    let subscription = try advancedCommerce(original)
    subscriptions[original]?.advancedCommerce?.reference = CompactUUID(using: &generator)
    subscriptions[original]?.advancedCommerce?.price = price
    subscriptions[original]?.renewalPrice = price
    emit(.priceChange, about: subscription.transactionId, at: now)
  }

  /// Sets the app account token of a purchase (Set App Account Token). For a subscription, it applies to the current
  /// transaction and later ones.
  package mutating func setAppAccountToken(
    _ token: CompactUUID, ofOriginal original: Int64, at now: Timestamp
  ) throws(WorldError) {
    subscriptions[original]?.appAccountToken = token
    let id = subscriptions[original]?.transactionId ?? original
    _ = try transaction(id)
    transactions[id]?.appAccountToken = token
    transactions[id]?.modified = now
  }

  /// Marks a transaction as finished: the app or the team's server has delivered the purchase.
  package mutating func finish(_ transactionId: Int64) throws(WorldError) {
    _ = try transaction(transactionId)
    transactions[transactionId]?.isFinished = true
  }

  private func advancedCommerce(_ original: Int64) throws(WorldError) -> SubscriptionFacts {
    let subscription = try self.subscription(original)
    guard subscription.advancedCommerce != nil else {
      throw .impossible("subscription \(original) does not belong to Advanced Commerce")
    }
    return subscription
  }
}
