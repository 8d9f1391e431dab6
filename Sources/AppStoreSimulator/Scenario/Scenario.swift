// A rehearsal as a value: the initial world, the events in it and the faults.

public import AppStore

/// A scenario.
public struct Scenario: Sendable {
  /// The seed. The same seed reproduces the same run.
  public var seed: UInt64 = 1
  /// The time at which the scenario begins; nil for the current time.
  public var origin: Timestamp?
  /// The speed of the scenario's clock; 1 is real time.
  public var rate = 1.0
  /// The length of the scenario, measured by its own clock; nil to run until stopped.
  public var duration: Duration?
  /// The interval at which the signing leaf certificate is replaced; nil for never.
  public var leafInterval: Duration?
  /// The apps and their products.
  public var apps: [SimulatedApp] = []
  /// The URLs to send notifications to, by bundle identifier and environment.
  public var destinations: [DestinationKey: Destination] = [:]
  /// The customers that exist at the beginning.
  public var population: [Population] = []
  /// How customers and banks behave.
  public var behaviour = Behaviour()
  /// The number of notifications and transactions to keep.
  public var limits = WorldLimits()
  /// The events of the scenario.
  public var events: [ScenarioEvent] = []
  /// API faults as the scenario describes them. Their times are relative to the beginning.
  public var faults: [JSONObject] = []
  /// The delivery settings. ``deliveryPauses`` holds the pauses, relative to the beginning.
  public var delivery = DeliverySettings()
  /// Periods without delivery, relative to the beginning.
  public var deliveryPauses: [(from: Duration, until: Duration)] = []
  /// The settings of the API.
  public var server = SimulatorSettings()

  /// An empty scenario.
  public init() {}

  /// The app and environment that a URL is registered for.
  public struct DestinationKey: Sendable, Hashable {
    /// The app.
    public var bundleId: String
    /// The environment.
    public var environment: AppStoreEnvironment

    /// An app in an environment.
    public init(bundleId: String, environment: AppStoreEnvironment) {
      self.bundleId = bundleId
      self.environment = environment
    }
  }

  /// Customers that exist when the scenario begins. No notifications are sent for their past.
  public struct Population: Sendable, Hashable {
    /// The bundle identifier of their app.
    public var bundleId: String
    /// Their environment.
    public var environment: AppStoreEnvironment
    /// The number of customers.
    public var count: Int
    /// The products that they subscribe to or own. Each customer has one of them.
    public var products: [String]
    /// The storefronts of the customers.
    public var storefronts: [String]
    /// The longest time since a customer's first purchase.
    public var since: Duration
    /// Purchased, or shared by a family member who is not part of the scenario.
    public var ownership: InAppOwnershipType
    /// The number of family members that each customer shares the purchase with.
    public var family: Int

    /// A population of customers.
    public init(
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
  public var customerCount: Int { population.reduce(0) { $0 + $1.count * (1 + $1.family) } }

  /// Sets the seed of the scenario and its API, for another run.
  public mutating func reseed(_ seed: UInt64) {
    self.seed = seed
    server.seed = seed
  }
}
