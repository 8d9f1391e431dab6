// The client and the simulated App Store, connected by sockets, with one manual clock.

import AppStore
import AppStoreSignature
import AppStoreSigning
import AppStoreSimulator
import MillraceTime
import Logging
import ServiceLifecycle
import Testing

@testable import AppStoreServerAPI

struct SimulatedStore: Sendable {
  static let bundleId = "com.example.app"
  static let monthly = "com.example.app.monthly"
  static let coins = "com.example.app.coins"

  let manual: ManualClock
  let simulator: Simulator
  let exchange: AsyncHTTPExchange
  let baseURLs: APIBaseURLs
  let credentials: APICredentials
  /// Yields when the simulator has posted a notification.
  let posted: AsyncStream<Void>

  private static let chain = Result {
    try SigningChain.generate(at: ManualClock().clock.wallTime, seed: 0x51)
  }
  private static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

  /// Runs a simulator while `body` uses it.
  ///
  /// - Parameter settings: Lines for the scenario, such as its `server`.
  static func running(
    _ settings: String = "", _ body: @escaping @Sendable (SimulatedStore) async throws -> Void
  ) async throws {
    let manual = ManualClock()
    var scenario = try Scenario(yaml: yaml + settings)
    let key = scenario.addMadeKey()
    let (posted, posts) = AsyncStream<Void>.makeStream()
    let (ports, listening) = AsyncStream<SimulatorPorts>.makeStream()
    let simulator = try Simulator(
      scenario, chain: chain.get(), clock: manual.clock, post: { _, _ in PostOutcome(status: 200) },
      onAttempt: { _ in posts.yield() }, logger: quiet, onListening: { listening.yield($0) })
    let made = Scenario.madeKey
    let credentials = try APICredentials(
      bundleId: bundleId, keys: [APIKey(issuerId: made.issuerId, keyId: made.keyId, privateKeyPEM: key)])
    let exchange = AsyncHTTPExchange()
    let group = ServiceGroup(configuration: .init(services: [simulator], logger: quiet))
    let result: Result<Void, any Error>
    do {
      try await withThrowingTaskGroup { tasks in
        tasks.addTask { try await group.run() }
        let found = try #require(await ports.first { _ in true })
        let (production, sandbox) = (try #require(found.production), try #require(found.sandbox))
        try await body(
          SimulatedStore(
            manual: manual, simulator: simulator, exchange: exchange,
            baseURLs: APIBaseURLs(
              production: "http://127.0.0.1:\(production)", sandbox: "http://127.0.0.1:\(sandbox)"),
            credentials: credentials, posted: posted))
        await group.triggerGracefulShutdown()
        try await tasks.waitForAll()
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    try await exchange.shutdown()
    try result.get()
  }

  private static let yaml = """
    apps:
      - bundleId: \(bundleId)
        appAppleId: 1234567890
        environments: [Production, Sandbox]
        notifications: { Production: { url: "http://example.invalid/v2" } }
        products: [{ productId: \(monthly) }, { productId: \(coins), type: consumable }]
    delivery: { latency: 0s }

    """
}

// Callers.
extension SimulatedStore {
  var clock: MillraceClock { manual.clock }

  /// A client. Its default budget never delays a call.
  func client(
    exchange: (any HTTPExchange)? = nil, budget: APIBudget? = nil, timeLimit: Duration = .seconds(30)
  ) throws -> AppStoreServerClient {
    var verification = SignedDataVerifier.Configuration()
    verification.trustedRoots = [simulator.signer.leaves.rootDER]
    let now = clock
    verification.now = { now.wallTime }
    return AppStoreServerClient(
      credentials: credentials, appAppleId: 1_234_567_890, baseURLs: baseURLs,
      verifier: try SignedDataVerifier(verification), exchange: exchange ?? self.exchange,
      budget: budget ?? generousBudget,
      clock: clock, timeLimit: timeLimit, logger: Self.quiet)
  }

  /// A thousand times Apple's limits.
  var generousBudget: APIBudget {
    var limits = RateLimits.documented
    limits.divisor = 0.001
    return APIBudget(limits: limits, clock: clock)
  }
}

// The simulation.
extension SimulatedStore {
  /// A new customer buys a product now. Returns the transaction.
  func buy(_ product: String = monthly) throws -> Int64 {
    let now = clock.wallTime
    return try simulator.world.withState { state in
      let realm = try #require(state.realm(bundleId: Self.bundleId, environment: .production))
      let customer = try state.addCustomer(to: realm, at: now)
      return try state.purchase(product, by: customer, at: now)
    }
  }

  /// A purchase that Apple has refunded.
  func refunded() throws -> Int64 {
    let id = try buy(Self.coins)
    let now = clock.wallTime
    try simulator.world.withState { state throws(WorldError) in try state.refund(id, at: now) }
    return id
  }

  /// A purchase whose customer requested a refund.
  func disputed() throws -> Int64 {
    let id = try buy(Self.coins)
    try simulator.services.customerAsksForRefund(of: id, at: clock.wallTime)
    return id
  }

  func order(of transaction: Int64) throws -> String {
    OrderID.text(try #require(simulator.world.withState { $0.transactions[transaction]?.orderId }))
  }

  /// The number of extensions of a subscription.
  func extensions(of original: Int64) throws -> Int {
    try #require(simulator.world.withState { $0.subscriptions[original]?.extensions.count })
  }

  /// Adds a fault, written as in a scenario.
  @discardableResult
  func inject(_ fault: JSONObject) throws -> Int {
    simulator.services.inject(try Fault(json: fault, origin: clock.wallTime))
  }

  func asked(_ endpoint: APIEndpoint) -> APIReport.Requests? {
    simulator.report.api.asked.first { $0.endpoint.rawValue == endpoint.rawValue }
  }
}
