// The state of the world. Only the operations in the files next to this one change it. Each operation queues the
// notifications that Apple would send.

package import AppStore
internal import AppStoreSigning

/// An app in one environment.
package struct Realm: Sendable {
  /// The app.
  package internal(set) var app: SimulatedApp
  /// Production or Sandbox.
  package let environment: AppStoreEnvironment
  /// The notifications of the realm.
  package internal(set) var log: NotificationLog
  /// The customers of the realm, in the order they were added.
  package internal(set) var customers: [CustomerID] = []
  /// `originalTransactionId` of the realm's subscriptions, in the order they began.
  package internal(set) var subscriptions: [Int64] = []
  /// The realm's tokens for external purchases.
  package internal(set) var tokens: [ExternalPurchaseTokenFacts] = []
  /// The products that are not for sale at present, as indices in the app's products.
  package internal(set) var notForSale: Set<Int> = []
}

/// The state of a world.
package struct WorldState: Sendable {
  /// The seed that reproduces the world.
  package let seed: UInt64
  /// How customers and banks behave.
  package var behaviour: Behaviour
  /// One realm for each environment of each app.
  package internal(set) var realms: [Realm] = []
  /// All customers, by ``CustomerID``.
  package internal(set) var customers: [CustomerFacts] = []
  /// The transactions by `transactionId`.
  package internal(set) var transactions: [Int64: TransactionFacts] = [:]
  /// The subscriptions by `originalTransactionId`.
  package internal(set) var subscriptions: [Int64: SubscriptionFacts] = [:]
  /// Refunds that were requested but not decided, by `transactionId`.
  package internal(set) var refundRequests: [Int64: RefundRequest] = [:]
  /// The time of the last event.
  package internal(set) var lastEvent: Timestamp

  /// The family members who share a purchase, by the purchaser's `originalTransactionId`.
  var families: [Int64: [FamilyMember]] = [:]
  let limits: WorldLimits
  var events = TimeOrdered<WorldEvent>()
  var generator: SeededGenerator
  var outbox: [NotificationID] = []
  /// Whether a component delivers the contents of ``outbox``.
  var hasPostman = false
  /// Whether notifications are suppressed, while the customers' past is created.
  var isQuiet = false
  /// The end of the customers' past while it is created; nil otherwise.
  var horizon: Timestamp?
  private var nextTransactionId: Int64 = 2_000_000_100_000_000
  private var nextLineItemId: Int64 = 2_000_000_050_000_000
  private var nextOrderId: Int64
  private var nextAppTransactionId: Int64 = 704_000_000_000_000_000
  private var orders: [Int64: Int64] = [:]
  private var appTransactions: [Int64: CustomerID] = [:]

  init(apps: [SimulatedApp], seed: UInt64, behaviour: Behaviour, limits: WorldLimits, beginning: Timestamp) {
    self.seed = seed
    self.behaviour = behaviour
    self.limits = limits
    lastEvent = beginning
    generator = SeededGenerator(seed: seed)
    nextOrderId = Int64.random(in: 0..<(1 << 40), using: &generator)
    for app in apps {
      for environment in app.environments {
        realms.append(
          Realm(app: app, environment: environment, log: NotificationLog(capacity: limits.notifications)))
      }
    }
  }
}

// Lookups.
extension WorldState {
  /// The realm of an app in an environment.
  package func realm(bundleId: String, environment: AppStoreEnvironment) -> RealmID? {
    realms.firstIndex { $0.app.bundleId == bundleId && $0.environment == environment }
  }

  /// The customer that an identifier leads to in a realm. The identifier can be a transaction's, an original
  /// transaction's or an app transaction's.
  package func customer(of id: Int64, in realm: RealmID) -> CustomerID? {
    guard let found = transactions[id]?.customer ?? subscriptions[id]?.customer ?? appTransactions[id],
      customers[found].realm == realm
    else { return nil }
    return found
  }

  /// The transaction of an order. Here every purchase and every renewal is an order of its own.
  package func transaction(ofOrder orderId: Int64) -> TransactionFacts? {
    orders[orderId].flatMap { transactions[$0] }
  }

  /// The product of a transaction.
  package func product(of transaction: TransactionFacts) -> Product {
    realms[customers[transaction.customer].realm].app.products[transaction.product]
  }

  /// The offer of a subscription's current period.
  func currentOffer(of subscription: SubscriptionFacts) -> Offer? {
    guard let transaction = transactions[subscription.transactionId], let offer = transaction.offer else { return nil }
    return product(of: transaction).offers[offer]
  }

  /// The notification with this UUID, unless it was dropped.
  package func record(uuid: CompactUUID) -> NotificationLogEntry? {
    for realm in realms {
      if let record = realm.log[uuid] { return record }
    }
    return nil
  }

  func transaction(_ id: Int64) throws(WorldError) -> TransactionFacts {
    guard let transaction = transactions[id] else { throw .noSuchTransaction(id) }
    return transaction
  }

  func subscription(_ originalId: Int64) throws(WorldError) -> SubscriptionFacts {
    guard let subscription = subscriptions[originalId] else { throw .noSuchTransaction(originalId) }
    return subscription
  }

  func product(named name: String, in realm: RealmID) throws(WorldError) -> Int {
    guard let index = realms[realm].app.products.firstIndex(where: { $0.productId == name }) else {
      throw .noSuchProduct(name)
    }
    return index
  }

  func app(of customer: CustomerID) -> SimulatedApp { realms[customers[customer].realm].app }

  func offer(named name: String?, of product: Product) throws(WorldError) -> Int? {
    guard let name else { return nil }
    guard let index = product.offers.firstIndex(where: { $0.identifier == name }) else { throw .noSuchProduct(name) }
    return index
  }
}

// New customers, identifiers, transactions and notifications.
extension WorldState {
  /// Adds a customer to an app.
  ///
  /// - Parameter storefront: a three-letter country code.
  package mutating func addCustomer(
    to realm: RealmID, storefront: String = "USA", at now: Timestamp
  ) throws(WorldError) -> CustomerID {
    guard realms.indices.contains(realm) else { throw .noSuchCustomer }
    nextAppTransactionId += Int64.random(in: 1...9_973, using: &generator)
    customers.append(
      CustomerFacts(realm: realm, appTransactionId: nextAppTransactionId, storefront: storefront, installed: now))
    appTransactions[nextAppTransactionId] = customers.count - 1
    realms[realm].customers.append(customers.count - 1)
    return customers.count - 1
  }

  mutating func takeTransactionId() -> Int64 {
    nextTransactionId += Int64.random(in: 1...997, using: &generator)
    return nextTransactionId
  }

  mutating func takeLineItemId() -> Int64 {
    nextLineItemId += Int64.random(in: 1...997, using: &generator)
    return nextLineItemId
  }

  mutating func takeOrderId() -> Int64 {
    nextOrderId += Int64.random(in: 1...997, using: &generator)
    return nextOrderId
  }

  /// Adds a transaction to its customer and removes the customer's oldest transactions beyond the limit.
  mutating func insert(_ transaction: TransactionFacts) {
    transactions[transaction.id] = transaction
    orders[transaction.orderId] = transaction.id
    customers[transaction.customer].transactions.append(transaction.id)
    let excess = customers[transaction.customer].transactions.count - limits.transactionsPerCustomer
    guard excess > 0 else { return }
    var forgotten: [Int64] = []
    for id in customers[transaction.customer].transactions where forgotten.count < excess {
      // The transaction of a subscription's current period is kept, however old it is.
      if let old = transactions[id], subscriptions[old.originalId]?.transactionId == id { continue }
      forgotten.append(id)
    }
    for id in forgotten {
      if let old = transactions.removeValue(forKey: id) { orders[old.orderId] = nil }
      refundRequests[id] = nil
      customers[transaction.customer].transactions.removeAll { $0 == id }
    }
  }

  /// Queues a notification, unless notifications are suppressed.
  @discardableResult
  mutating func emit(
    _ kind: SampleKind, _ content: NotificationFacts.Content, cause: NotificationCause = .itself, in realm: RealmID,
    at now: Timestamp
  ) -> CompactUUID? {
    lastEvent = max(lastEvent, now)
    guard !isQuiet else { return nil }
    let id = NotificationID(realm: realm, sequence: realms[realm].log.nextSequence)
    let facts = NotificationFacts(
      uuid: CompactUUID(using: &generator), sequence: id.sequence, realm: realm, kind: kind, signedDate: now,
      content: content, cause: cause)
    realms[realm].log.append(NotificationLogEntry(facts: facts, openDeliveries: hasPostman ? 1 : 0))
    if hasPostman { outbox.append(id) }
    return facts.uuid
  }

  /// Queues a notification about the current state of a transaction and its subscription, if it has one.
  @discardableResult
  mutating func emit(
    _ type: NotificationTypeV2, _ subtype: Subtype? = nil, about transactionId: Int64,
    reason: ConsumptionRequestReason? = nil, cause: NotificationCause = .itself, at now: Timestamp
  ) -> CompactUUID? {
    guard let transaction = transactions[transactionId] else { return nil }
    return emit(
      SampleKind(type, subtype),
      .purchase(transaction, subscriptions[transaction.originalId], reason: reason), cause: cause,
      in: customers[transaction.customer].realm, at: now)
  }
}
