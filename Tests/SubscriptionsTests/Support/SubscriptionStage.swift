// The stage of the subscription worker. Tests deliver what the simulator signed, and compare the table with the
// simulator's state.

import AppStore
import AppStoreServerAPI
import KafkaClient
import MillraceTesting
import MillraceTime
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Subscriptions

typealias SubscriptionStage = WorkerStage<SubscriptionsWorker, SimulatedExchange>

extension SubscriptionStage {
  private static var products: [AppStoreSimulator.Product] {
    let trial = Offer(
      identifier: "TRY", type: .offerCode, discountType: .freeTrial, period: SubscriptionPeriod(1, .week), price: 0)
    return [
      Product(productId: "app.premium", group: "plans", level: 1, price: 14_990),
      Product(productId: "app.basic", group: "plans", level: 2, price: 9_990, offers: [trial]),
      Product(productId: "app.graceful", group: "extras", price: 4_990, gracePeriod: .seconds(16 * 86_400)),
      Product(productId: "app.weekly", group: "weekly", period: SubscriptionPeriod(1, .week), price: 990),
      Product(productId: "app.coins", type: .consumable, group: nil, price: 990),
      Product(productId: "app.lifetime", type: .nonConsumable, group: nil, price: 99_990),
      Product(
        productId: "app.committed", group: "committed", period: SubscriptionPeriod(3, .day), price: 2_990, commitment: 4
      ),
    ]
  }

  convenience init(hasCredentials: Bool = true, behaviour: Behaviour = Behaviour(), seed: UInt64 = 1) throws {
    var settings = SimulatorSettings()
    settings.seed = seed
    let store = try StagedAppStore(products: Self.products, behaviour: behaviour, settings: settings)
    try self.init(store, network: store.exchange, family: .subscriptions, lanes: 4) { configuration in
      if !hasCredentials { configuration.apps[0].api = .init() }
      // A budget that never delays a call.
      configuration.appStore.limitDivisor = 0.001
      configuration.privacy.keyFile = try store.file("erasure-key", Array(repeating: 7, count: 32))
    } topics: { topics in
      for topic in SubscriptionsWorker.outputTopics { topics[topic] = 4 }
    }
  }

  var erasureKey: ErasureKey { get throws { try #require(try ErasureKey(configuration.privacy)) } }

  /// Runs the worker concurrently with `body`, and checks what it published.
  func running(_ body: @escaping @Sendable (SubscriptionStage) async throws -> Void) async throws {
    try await running(1) { try await body(self) }
    #expect(deadLetters().isEmpty)
    try checkSchemas()
  }

  /// Waits until the worker has read everything and is idle.
  func settle() async throws { try await awaitRest() }

  /// Lets time pass for the App Store and the worker.
  func advance(by duration: Duration) async throws {
    try passTime(duration)
    try await settle()
  }

  func deliver(_ records: [ProducerRecord]) async throws {
    for record in records { try log.append(record) }
    try await settle()
  }

  // MARK: - The App Store

  /// Changes the world at the present time.
  func happens<Result: Sendable>(_ change: (inout WorldState, Timestamp) throws -> Result) throws -> Result {
    let now = now
    return try world.withState { state in try change(&state, now) }
  }

  /// A new customer buys a product.
  func buy(_ product: String) throws -> Int64 { try purchase(product, at: now) }

  /// The notifications after a sequence number, as the ingress's records.
  func notifications(since sequence: Int64 = -1) throws -> [(sequence: Int64, record: ProducerRecord)] {
    try entries(from: sequence + 1).map { ($0.facts.sequence, try v2($0)) }
  }

  // MARK: - The results

  /// The subscriptions.
  func table() throws -> [String: JSONObject] { try table(SubscriptionsWorker.subscriptionsTopic) }

  private func checkSchemas() throws {
    let (subscription, purchase) = (
      try SchemaCheck("subscriptions.subscription"), try SchemaCheck("subscriptions.purchase")
    )
    for event in try events() where event.name != "customer.erased" {
      let schema = event.name.hasPrefix(SubscriptionEvent.prefix) ? subscription : purchase
      #expect(schema.problems(.object(event.data)).isEmpty, "\(event.name) \(event.data)")
    }
    for (id, row) in try table() {
      #expect(try SchemaCheck("appstore.subscriptions").problems(.object(row)).isEmpty, "\(row)")
      #expect(row["originalTransactionId"] == .string(id))
    }
    for (id, row) in try table(SubscriptionsWorker.purchasesTopic) {
      #expect(try SchemaCheck("appstore.purchases").problems(.object(row)).isEmpty, "\(row)")
      #expect(row["transactionId"] == .string(id))
    }
  }
}

extension JSON {
  /// The value of a string; nil for any other value.
  var text: String? { if case .string(let text) = self { text } else { nil } }
  /// The value of a whole number; nil for any other value.
  var whole: Int64? { if case .integer(let number) = self { number } else { nil } }
}
