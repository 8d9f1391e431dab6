// An app with every kind of product, and its simulated world without an API or deliveries.

import AppStore
import AppStoreSignature
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

enum Rehearsal {
  static let monthly = "com.example.app.monthly"
  static let yearly = "com.example.app.yearly"
  static let graceful = "com.example.app.graceful"
  static let coins = "com.example.app.coins"

  static let app = SimulatedApp(
    bundleId: "com.example.app", appAppleId: 1_234_567_890, sharedSecret: "a rehearsal's secret",
    products: [
      Product(productId: yearly, group: "1", level: 1, period: SubscriptionPeriod(1, .year), offers: [trial]),
      Product(productId: monthly, group: "1", level: 2, offers: [trial]),
      Product(productId: graceful, group: "2", gracePeriod: .seconds(16 * 86_400)),
      Product(productId: coins, type: .consumable, group: nil, price: 4_990),
    ])

  static let trial = Offer(
    identifier: "TRY", type: .offerCode, discountType: .freeTrial, period: SubscriptionPeriod(1, .week), price: 0)

  static func world(
    seed: UInt64 = 1, behaviour: Behaviour = Behaviour(), limits: WorldLimits = WorldLimits()
  ) -> World {
    World(apps: [app], seed: seed, behaviour: behaviour, limits: limits, beginning: .newYear)
  }

  static func signer(origin: Timestamp = .newYear, interval: Duration? = nil) throws -> NotificationSigner {
    NotificationSigner(RotatingLeaves(try SimulatorFixture.chain.get(), origin: origin, interval: interval))
  }

  /// Production, which is the first realm.
  static let production: RealmID = 0
  static let sandbox: RealmID = 1

  static func policy(_ realm: RealmID) -> IdentityPolicy {
    IdentityPolicy([
      AppIdentity(
        bundleId: app.bundleId, appAppleId: app.appAppleId,
        environments: [realm == production ? .production : .sandbox])
    ])
  }
}

extension World {
  /// The types and subtypes of all notifications, in order.
  func told(in realm: RealmID = Rehearsal.production) -> [String] {
    withState { $0.realms[realm].log.records.map { $0.facts.kind.description } }
  }

  func subscription(_ original: Int64) throws -> SubscriptionFacts {
    try #require(withState { $0.subscriptions[original] })
  }

  /// A new customer buys a product.
  @discardableResult
  func buy(_ product: String, in realm: RealmID = Rehearsal.production, at now: Timestamp) throws -> Int64 {
    try withState { state in
      let customer = try state.addCustomer(to: realm, at: now - .seconds(60))
      return try state.purchase(product, by: customer, at: now)
    }
  }
}
