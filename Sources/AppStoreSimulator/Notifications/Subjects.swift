// What the edge needs to know to write and sign something: taken out of the world under its lock, signed outside of it.

internal import AppStore
internal import AppStoreSigning

/// A transaction with everything that its payload says.
public struct PurchaseSubject: Sendable {
  /// The transaction.
  public let transaction: TransactionFacts
  /// Its subscription; nil for a one-time purchase.
  public let subscription: SubscriptionFacts?
  let product: Product
  let nextProduct: Product?
  let customer: CustomerSubject
}

/// A customer with everything that an app transaction says.
public struct CustomerSubject: Sendable {
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

/// A notification with everything that it says.
public struct NotificationSubject: Sendable {
  enum Content: Sendable {
    case purchase(PurchaseSubject, reason: ConsumptionRequestReason?)
    case summary(ExtensionSummary)
    case token(ExternalPurchaseTokenFacts)
    case consent(CustomerSubject)
    case test
  }

  /// Type, UUID and date.
  public let facts: NotificationFacts
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
  /// A transaction as it stands; nil when there is none.
  public func subject(ofTransaction id: Int64) -> PurchaseSubject? {
    transactions[id].map { subject(of: $0, subscriptions[$0.originalId]) }
  }

  /// A customer; nil when there is none.
  public func subject(ofCustomer id: CustomerID) -> CustomerSubject? {
    customers.indices.contains(id) ? customerSubject(id) : nil
  }

  /// A notification as things were when it happened.
  public func subject(of record: NotificationRecord) -> NotificationSubject {
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
