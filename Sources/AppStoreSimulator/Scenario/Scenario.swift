// A rehearsal as a value: what the world is at first, what happens in it, what goes wrong.

public import AppStore

/// A scenario.
public struct Scenario: Sendable {
  /// Reproduces it.
  public var seed: UInt64 = 1
  /// The moment at which it begins; nil: now.
  public var origin: Timestamp?
  /// How fast its time passes; 1 is real time.
  public var rate = 1.0
  /// How long it lasts in its own time; nil: until it is stopped.
  public var duration: Duration?
  /// How long a signing leaf is used; nil: for ever.
  public var leafInterval: Duration?
  /// Apps and what they sell.
  public var apps: [SimulatedApp] = []
  /// Where notifications go, by bundle identifier and environment.
  public var destinations: [DestinationKey: Destination] = [:]
  /// Who is there at the beginning.
  public var population: [Population] = []
  /// How customers and banks behave.
  public var behaviour = Behaviour()
  /// How much is remembered.
  public var limits = WorldLimits()
  /// What happens.
  public var events: [ScenarioEvent] = []
  /// Faults of the API, as they were described; their times count from the beginning.
  public var faults: [JSONObject] = []
  /// How notifications are delivered. Pauses count from the beginning: see ``deliveryPauses``.
  public var delivery = DeliverySettings()
  /// Times without delivery, counted from the beginning.
  public var deliveryPauses: [(from: Duration, until: Duration)] = []
  /// How the API behaves.
  public var server = SimulatorSettings()

  /// An empty scenario.
  public init() {}

  /// The app and the environment that a URL was registered for.
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

  /// Customers who are there when the scenario begins. Nobody is told how they came.
  public struct Population: Sendable, Hashable {
    /// Their app.
    public var bundleId: String
    /// Where.
    public var environment: AppStoreEnvironment
    /// How many.
    public var count: Int
    /// What they subscribe to or own: each customer has one of these.
    public var products: [String]
    /// Where they live.
    public var storefronts: [String]
    /// How long ago the first of them subscribed at most.
    public var since: Duration
    /// Bought, or shared by a family whose purchaser is nobody here.
    public var ownership: InAppOwnershipType
    /// With how many others each of them shares what they bought.
    public var family: Int

    /// Customers.
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
  /// Customers who are there at the beginning.
  public var customerCount: Int { population.reduce(0) { $0 + $1.count * (1 + $1.family) } }

  /// Another run of the same scenario.
  public mutating func reseed(_ seed: UInt64) {
    self.seed = seed
    server.seed = seed
  }
}
