// A rehearsal as a value: the initial world, the events in it and the faults.

package import AppStore

/// A scenario.
public struct Scenario: Sendable {
  /// The seed. The same seed reproduces the same run.
  public var seed: UInt64 = 1
  /// The time at which the scenario begins; nil for the current time.
  package var origin: Timestamp?
  /// The speed of the scenario's clock; 1 is real time.
  package var rate = 1.0
  /// The length of the scenario, measured by its own clock; nil to run until stopped.
  public var duration: Duration?
  /// The interval at which the signing leaf certificate is replaced; nil for never.
  package var leafInterval: Duration?
  /// The apps and their products.
  package var apps: [SimulatedApp] = []
  /// The URLs to send notifications to, by bundle identifier and environment.
  package var destinations: [DestinationKey: Destination] = [:]
  /// The customers that exist at the beginning.
  package var population: [Population] = []
  /// How customers and banks behave.
  package var behaviour = Behaviour()
  /// The number of notifications and transactions to keep.
  package var limits = WorldLimits()
  /// The events of the scenario.
  package var events: [ScenarioEvent] = []
  /// API faults as the scenario describes them. Their times are relative to the beginning.
  package var faults: [JSONObject] = []
  /// The delivery settings. ``deliveryPauses`` holds the pauses, relative to the beginning.
  package var delivery = DeliverySettings()
  /// Periods without delivery, relative to the beginning.
  package var deliveryPauses: [(from: Duration, until: Duration)] = []
  /// The settings of the API.
  package var server = SimulatorSettings()

  /// An empty scenario.
  public init() {}

  /// The app and environment that a URL is registered for.
  package struct DestinationKey: Sendable, Hashable {
    /// The app.
    package var bundleId: String
    /// The environment.
    package var environment: AppStoreEnvironment

    /// An app in an environment.
    package init(bundleId: String, environment: AppStoreEnvironment) {
      self.bundleId = bundleId
      self.environment = environment
    }
  }

  /// Customers that exist when the scenario begins. No notifications are sent for their past.
  package struct Population: Sendable, Hashable {
    /// The bundle identifier of their app.
    package var bundleId: String
    /// Their environment.
    package var environment: AppStoreEnvironment
    /// The number of customers.
    package var count: Int
    /// The products that they subscribe to or own. Each customer has one of them.
    package var products: [String]
    /// The storefronts of the customers.
    package var storefronts: [String]
    /// The longest time since a customer's first purchase.
    package var since: Duration
    /// Purchased, or shared by a family member who is not part of the scenario.
    package var ownership: InAppOwnershipType
    /// The number of family members that each customer shares the purchase with.
    package var family: Int

    /// A population of customers.
    package init(
      bundleId: String, environment: AppStoreEnvironment, count: Int, products: [String],
      storefronts: [String] = ["USA"], since: Duration = .seconds(365 * 86_400),
      ownership: InAppOwnershipType = .purchased, family: Int = 0
    ) {
      self.bundleId = bundleId
      self.environment = environment
      self.count = count
      self.products = products
      self.storefronts = storefronts
      self.since = since
      self.ownership = ownership
      self.family = family
    }
  }
}

extension Scenario {
  /// The number of customers at the beginning, family members included.
  package var customerCount: Int { population.reduce(0) { $0 + $1.count * (1 + $1.family) } }

  /// Sets the seed of the scenario and its API, for another run.
  public mutating func reseed(_ seed: UInt64) {
    self.seed = seed
    server.seed = seed
  }
}
