// The data needed to build and sign a payload. It is copied while holding the world's lock and signed after releasing
// it.

internal import AppStore
internal import AppStoreSigning

/// A transaction with all data of its payload.
package struct PurchaseSubject: Sendable {
  /// The transaction.
  package let transaction: TransactionFacts
  /// Its subscription; nil for a one-time purchase.
  package let subscription: SubscriptionFacts?
  let product: Product
  /// The product of the next renewal; within a commitment, of the next commitment.
  let nextProduct: Product?
  let customer: CustomerSubject

  /// The product of the next billing period; nil for a one-time purchase.
  var billedProduct: Product? { subscription.map { customer.app.products[$0.billedProduct] } }
  /// The offer of the next billing period.
  var billedOffer: Offer? { subscription?.billedOffer.flatMap { billedProduct?.offers[$0] } }
}

/// A customer with all data of an app transaction.
package struct CustomerSubject: Sendable {
  let app: SimulatedApp
  let environment: AppStoreEnvironment
  let appTransactionId: Int64
  let storefront: String
  let installed: Timestamp

  var payloadApp: PayloadApp {
    PayloadApp(
      bundleId: app.bundleId, appAppleId: app.appAppleId, bundleVersion: app.version, environment: environment)
  }
}

/// A notification with all its data.
package struct NotificationSubject: Sendable {
  enum Content: Sendable {
    case purchase(PurchaseSubject, reason: ConsumptionRequestReason?)
    case summary(ExtensionSummary)
    case token(ExternalPurchaseTokenFacts)
    case consent(CustomerSubject)
    case test
  }

  /// Type, UUID and date.
  package let facts: NotificationFacts
  let app: SimulatedApp
  let environment: AppStoreEnvironment
  let content: Content
  let signatures: TokenSignatures?

  var payloadApp: PayloadApp {
    PayloadApp(
      bundleId: app.bundleId, appAppleId: app.appAppleId, bundleVersion: app.version, environment: environment)
  }
}

extension WorldState {
  /// A transaction in its current state; nil if there is none.
  package func subject(ofTransaction id: Int64) -> PurchaseSubject? {
    transactions[id].map { subject(of: $0, subscriptions[$0.originalId]) }
  }

  /// A customer; nil if there is none.
  package func subject(ofCustomer id: CustomerID) -> CustomerSubject? {
    customers.indices.contains(id) ? customerSubject(id) : nil
  }

  /// A notification with the state at the time it happened.
  package func subject(of record: NotificationLogEntry) -> NotificationSubject {
    let realm = realms[record.facts.realm]
    let content: NotificationSubject.Content =
      switch record.facts.content {
      case .purchase(let transaction, let subscription, let reason):
        .purchase(subject(of: transaction, subscription), reason: reason)
      case .summary(let summary): .summary(summary)
      case .token(let token): .token(token)
      case .consent(let customer): .consent(customerSubject(customer))
      case .test: .test
      }
    return NotificationSubject(
      facts: record.facts, app: realm.app, environment: realm.environment, content: content,
      signatures: record.signatures)
  }

  func subject(of transaction: TransactionFacts, _ subscription: SubscriptionFacts?) -> PurchaseSubject {
    let customer = customerSubject(transaction.customer)
    let products = customer.app.products
    return PurchaseSubject(
      transaction: transaction, subscription: subscription, product: products[transaction.product],
      nextProduct: subscription.map { products[$0.nextProduct] }, customer: customer)
  }

  private func customerSubject(_ id: CustomerID) -> CustomerSubject {
    let customer = customers[id]
    let realm = realms[customer.realm]
    return CustomerSubject(
      app: realm.app, environment: realm.environment, appTransactionId: customer.appTransactionId,
      storefront: customer.storefront, installed: customer.installed)
  }
}
