// A simulated world with an API and a manual clock, without sockets.

import AppStore
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import HTTPTypes
import Testing

@testable import AppStoreSimulator

struct SimulatorFixture {
  /// Shared by all tests, because generating keys takes longer than most of them.
  static let chain = Result { try SigningChain.generate(at: .newYear, seed: 3) }

  static let monthly = "pro.monthly"
  static let better = "pro.max.monthly"
  static let coins = "coins.100"
  static let lifetime = "lifetime"
  static let trial = "trial"
  static let graceful = "graceful.monthly"

  let time = ManualClock(start: .newYear)
  let world: World
  let services: APIServices
  let signer: NotificationSigner
  let caller: TestCaller
  let production: RealmID
  let sandbox: RealmID

  init(_ change: (inout SimulatorSettings) -> Void = { _ in }, reachable: Set<RealmID>? = nil) throws {
    var settings = SimulatorSettings()
    settings.massExtension.failureShare = 0
    change(&settings)
    let caller = TestCaller()
    self.caller = caller
    let app = SimulatedApp(
      bundleId: caller.bundleId, appAppleId: 1_234_567_890,
      credentials: [caller.credentials],
      products: [
        Product(
          productId: Self.monthly, level: 2,
          offers: [
            Offer(
              identifier: Self.trial, type: .introductoryOffer, discountType: .freeTrial,
              period: SubscriptionPeriod(1, .week),
              price: 0)
          ]),
        Product(productId: "other.monthly", group: "99999999"),
        Product(productId: Self.coins, type: .consumable, group: nil),
        Product(productId: Self.lifetime, type: .nonConsumable, group: nil),
        Product(productId: Self.graceful, group: "77777777", gracePeriod: .seconds(16 * 86_400)),
        Product(productId: Self.better, level: 1),
      ])
    let released = SimulatedApp(
      bundleId: "com.example.sandboxed", appAppleId: 2, environments: [.sandbox], credentials: app.credentials)
    world = World(apps: [app, released], seed: 1, beginning: .newYear)
    signer = NotificationSigner(RotatingLeaves(try Self.chain.get(), origin: .newYear, interval: nil))
    services = try APIServices(
      world: world, signer: signer, settings: settings, clock: time.clock, reachable: reachable)
    (production, sandbox) = try world.withState { state in
      (
        try #require(state.realm(bundleId: caller.bundleId, environment: .production)),
        try #require(state.realm(bundleId: caller.bundleId, environment: .sandbox))
      )
    }
  }

  var now: Timestamp { time.clock.wallTime }

  /// Advances the clock and runs all due events.
  func pass(_ duration: Duration) throws {
    time.advance(by: duration)
    try world.run(until: now)
  }

  /// A new customer buys a product. Returns the transaction.
  @discardableResult
  func buy(
    _ productId: String = monthly, offer: String? = nil, storefront: String = "USA", in realm: RealmID? = nil,
    ownership: InAppOwnershipType = .purchased
  ) throws -> Int64 {
    try world.withState { state in
      let customer = try state.addCustomer(to: realm ?? production, storefront: storefront, at: now)
      return try state.purchase(productId, by: customer, offer: offer, ownership: ownership, at: now)
    }
  }

  /// The customer of a transaction buys again.
  @discardableResult
  func buyAgain(_ productId: String, like transactionId: Int64) throws -> Int64 {
    try world.withState { state in
      let customer = try #require(state.transactions[transactionId]?.customer)
      return try state.purchase(productId, by: customer, at: now)
    }
  }

  /// The result of a request with a valid token, or with the given one.
  func send(
    _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
    body: JSONObject? = nil, in environment: AppStoreEnvironment = .production, authorization: String? = nil
  ) async throws -> WireOutcome {
    try await services.pipeline.respond(
      to: IncomingRequest(
        environment: environment, method: method, path: path, query: query,
        authorization: try authorization ?? caller.authorization(now: now), body: body?.serialized() ?? []))
  }

  /// The response to a request.
  func answer(
    _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
    body: JSONObject? = nil, in environment: AppStoreEnvironment = .production, authorization: String? = nil
  ) async throws -> APIAnswer {
    let outcome = try await send(
      method, path, query: query, body: body, in: environment, authorization: authorization)
    guard case .answer(let answer) = outcome else { throw UnexpectedOutcome(outcome: outcome) }
    return answer
  }

  /// The JSON of a successful response.
  func json(
    _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
    body: JSONObject? = nil, in environment: AppStoreEnvironment = .production
  ) async throws -> JSONObject {
    let answer = try await answer(method, path, query: query, body: body, in: environment)
    guard answer.status == 200 else { throw UnexpectedOutcome(outcome: .answer(answer)) }
    return try JSONObject(parsing: answer.body)
  }

  /// The number of breaches of a rule.
  func breaches(_ rule: CallerRule) -> Int { services.report.broken.first { $0.rule == rule }?.count ?? 0 }

  /// The notifications of production, in order.
  func sent(_ type: NotificationTypeV2? = nil) -> [NotificationLogEntry] {
    world.withState { state in state.realms[production].log.records.filter { type == nil || $0.facts.kind.type == type }
    }
  }

  var verifier: SignedDataVerifier {
    get throws {
      var configuration = SignedDataVerifier.Configuration()
      configuration.innerTokens = .verified
      configuration.trustedRoots = [try Self.chain.get().rootDER]
      return try SignedDataVerifier(configuration)
    }
  }

  /// The verified transaction in a token.
  func transaction(_ token: JSON?) async throws -> JWSTransactionDecodedPayload {
    let text = try #require(token.flatMap(String.init(jsonValue:)))
    let identity = IdentityPolicy(bundleId: caller.bundleId)
    return try await verifier.verifyTransaction(Array(text.utf8), identity: identity).payload
  }

  /// The identifiers of the verified transactions in a response.
  func transactionIds(_ json: JSONObject) async throws -> [String] {
    guard case .array(let tokens) = json["signedTransactions"] else { throw UnexpectedOutcome(outcome: nil) }
    var ids: [String] = []
    for token in tokens { ids.append(try #require(try await transaction(token).transactionId)) }
    return ids
  }
}

struct UnexpectedOutcome: Error { let outcome: WireOutcome? }

extension APIAnswer {
  /// Apple's error code, parsed from the body.
  var code: Int64? {
    get throws {
      guard case .integer(let code) = try JSONObject(parsing: body)["errorCode"] else { return nil }
      return code
    }
  }
}
