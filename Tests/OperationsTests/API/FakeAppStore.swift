// An in-memory App Store behind the client's transport. It signs its responses, and the client verifies them.

import AppStore
import AppStoreServerAPI
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import Crypto
import Foundation
import MillraceCore
import Synchronization

@testable import Operations

/// Responds by method and path. It answers unknown requests with error 4040010, as Apple does.
final class FakeAppStore: HTTPExchange {
  struct Answer: Sendable {
    var status = 200
    var body: JSONObject = [:]
    /// Whether the connection breaks instead of returning a response.
    var isReset = false

    static func error(_ code: APIErrorCode) -> Answer {
      var body = APIErrorBody()
      body.errorCode = code
      body.errorMessage = "\(code.name ?? "")."
      return Answer(status: code.httpStatus ?? 500, body: body.json)
    }
  }

  private struct State {
    var answers: [String: [Answer]] = [:]
    var asked: [String] = []
  }

  private let state = Mutex(State())

  /// The received requests, for example `GET production /inApps/…?…`.
  var asked: [String] { state.withLock { $0.asked } }

  /// Sets the responses to a request, in order. The last one repeats.
  func answer(_ question: String, _ answers: Answer...) {
    state.withLock { $0.answers[question] = answers }
  }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let question =
      "\(request.method.rawValue) "
      + request.url.replacing("https://production.invalid", with: "production ")
      .replacing("https://sandbox.invalid", with: "sandbox ")
    let answer = state.withLock { state in
      state.asked.append(question)
      let answers = state.answers[question] ?? []
      if answers.count > 1 { state.answers[question] = Array(answers.dropFirst()) }
      return answers.first ?? .error(.transactionIdNotFound)
    }
    if answer.isReset { throw TransportFailure("connection reset by peer", .unclear) }
    return ExchangeAnswer(status: answer.status, body: answer.body.serialized())
  }
}

/// An app, its customers' purchases, and the operation under test.
struct APIFixture {
  static let now = Fixture.signedDate
  /// Limits that no test reaches, so no call waits for a slot.
  static let plenty = RateLimits(
    productionPerSecond: Dictionary(uniqueKeysWithValues: APIEndpoint.allCases.map { ($0, 1000) }))
  let fixture: Fixture
  let store = FakeAppStore()
  let time = ManualClock(start: now)
  let out = CollectedOutput()
  let notes = CollectedOutput()

  init() throws { fixture = try Fixture() }

  /// A configuration with credentials. Their key is new and in a file.
  func configuration() throws -> MillraceConfiguration {
    var configuration = fixture.configuration()
    let key = fixture.directory.appendingPathComponent("apple.p8")
    try Data(P256.Signing.PrivateKey().pemRepresentation.utf8).write(to: key)
    configuration.apps[0].api.issuerId = "69a6de70-0000-0000-e053-5b8c7c11a4d1"
    configuration.apps[0].api.keyId = "2X9R4HXF34"
    configuration.apps[0].api.privateKeyFile = key.path
    configuration.appStore.productionURL = "https://production.invalid"
    configuration.appStore.sandboxURL = "https://sandbox.invalid/"
    return configuration
  }

  func client(environment: String? = nil) throws -> (APIApp, AppStoreServerClient) {
    let configuration = try configuration()
    let app = try APIApp(app: nil, environment: environment, in: configuration)
    let client = APIAccess.client(
      app, configuration.appStore, credentials: try APIAccess.credentials(of: app),
      verifier: try SignedDataVerifier.configured(configuration.trust, clock: time.clock), exchange: store,
      budget: APIBudget(limits: Self.plenty, clock: time.clock), clock: time.clock)
    return (app, client)
  }

  func operation(
    environment: String? = nil, asJSON: Bool = false, width: Int? = nil
  ) throws -> APIOperation {
    let (app, client) = try client(environment: environment)
    let notes = self.notes.output()
    return APIOperation(
      client, in: app.environment, clock: time.clock, to: out.output(isTerminal: !asJSON, width: width),
      asJSON: asJSON
    ) { notes.note($0) }
  }

  /// A transaction of a monthly subscription, signed an hour ago.
  func transaction(
    _ id: String, _ change: (inout JWSTransactionDecodedPayload) -> Void = { _ in }
  ) -> JWSTransactionDecodedPayload {
    var transaction = JWSTransactionDecodedPayload()
    transaction.transactionId = id
    transaction.originalTransactionId = "400001"
    transaction.bundleId = fixture.app.bundleId
    transaction.productId = "com.example.app.monthly"
    transaction.subscriptionGroupIdentifier = "21000001"
    transaction.purchaseDate = Self.now - .seconds(3600)
    transaction.originalPurchaseDate = Self.now - .seconds(86_400 * 31)
    transaction.expiresDate = Self.now + .seconds(86_400 * 30)
    transaction.quantity = 1
    transaction.type = .autoRenewableSubscription
    transaction.inAppOwnershipType = .purchased
    transaction.signedDate = Self.now - .seconds(60)
    transaction.environment = .production
    transaction.transactionReason = .renewal
    transaction.storefront = "DEU"
    transaction.price = 9990
    transaction.currency = "EUR"
    change(&transaction)
    return transaction
  }

  func renewal(_ change: (inout JWSRenewalInfoDecodedPayload) -> Void = { _ in }) -> JWSRenewalInfoDecodedPayload {
    var renewal = JWSRenewalInfoDecodedPayload()
    renewal.originalTransactionId = "400001"
    renewal.productId = "com.example.app.monthly"
    renewal.autoRenewProductId = "com.example.app.monthly"
    renewal.autoRenewStatus = .on
    renewal.signedDate = Self.now - .seconds(60)
    renewal.environment = .production
    renewal.currency = "EUR"
    renewal.renewalPrice = 9990
    change(&renewal)
    return renewal
  }

  func sign(_ payload: some AppStoreObject) throws -> String {
    String(decoding: try fixture.chain.sign(payload.serialized()), as: UTF8.self)
  }
}
