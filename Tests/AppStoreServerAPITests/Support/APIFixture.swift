// An app with keys, a signing chain like Apple's, a manual clock, and clients.

import AppStore
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import Crypto
import Logging
import Synchronization

@testable import AppStoreServerAPI

struct APIFixture {
  static let bundleId = "com.example.app"
  static let appAppleId: Int64 = 1_234_567_890
  static let transactionId = "2000000000000001"
  static let originalTransactionId = "2000000000000000"

  /// Shared by all tests, because generating a chain takes longer than most of them.
  private static let signing = Result {
    try SigningChain.generate(at: ManualClock().clock.wallTime, seed: 0xA11CE)
  }

  let manual = ManualClock()
  let chain: SigningChain
  let pauses = Recorder<BudgetPause>()

  init() throws { chain = try Self.signing.get() }

  var clock: MillraceClock { manual.clock }

  static func key(_ id: String, issuerId: String = "57246542-96fe-1a63-e053-0824d011072a") throws -> APIKey {
    try APIKey(issuerId: issuerId, keyId: id, privateKeyPEM: P256.Signing.PrivateKey().pemRepresentation)
  }

  func budget(limits: RateLimits = .documented, part: Double = 1) -> APIBudget {
    let pauses = pauses
    return APIBudget(limits: limits, part: part, clock: clock) { pauses.add($0) }
  }

  func client(
    _ exchange: any HTTPExchange, keys: [APIKey]? = nil, budget: APIBudget? = nil,
    environments: [AppStoreEnvironment] = [.production, .sandbox], baseURLs: APIBaseURLs = .apple,
    timeLimit: Duration = .seconds(30)
  ) throws -> AppStoreServerClient {
    var verification = SignedDataVerifier.Configuration()
    verification.trustedRoots = [chain.rootDER]
    verification.innerTokens = .verified
    let now = clock
    verification.now = { now.wallTime }
    return AppStoreServerClient(
      credentials: try APICredentials(bundleId: Self.bundleId, keys: try keys ?? [Self.key("KEY1234567")]),
      appAppleId: Self.appAppleId, environments: environments, baseURLs: baseURLs,
      verifier: try SignedDataVerifier(verification),
      exchange: exchange, budget: budget ?? self.budget(), clock: clock, timeLimit: timeLimit,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }
}

// Signed data.
extension APIFixture {
  func transaction(
    id: String = transactionId, environment: AppStoreEnvironment = .production, by chain: SigningChain? = nil
  ) throws -> String {
    try sign(
      [
        "transactionId": .string(id), "originalTransactionId": .string(Self.originalTransactionId),
        "bundleId": .string(Self.bundleId), "environment": .string(environment.rawValue),
        "signedDate": clock.wallTime.jsonValue,
      ], by: chain)
  }

  func renewalInfo(environment: AppStoreEnvironment = .production, by chain: SigningChain? = nil) throws -> String {
    try sign(
      [
        "originalTransactionId": .string(Self.originalTransactionId), "autoRenewStatus": 1,
        "environment": .string(environment.rawValue), "signedDate": clock.wallTime.jsonValue,
      ], by: chain)
  }

  func appTransaction(environment: AppStoreEnvironment = .production, by chain: SigningChain? = nil) throws -> String {
    try sign(
      [
        "receiptType": .string(environment.rawValue), "appAppleId": .integer(Self.appAppleId),
        "bundleId": .string(Self.bundleId), "receiptCreationDate": clock.wallTime.jsonValue,
      ], by: chain)
  }

  func notification(environment: AppStoreEnvironment = .production, by chain: SigningChain? = nil) throws -> String {
    let app = SampleApp(bundleId: Self.bundleId, appAppleId: Self.appAppleId, environment: environment)
    var samples = SampleNotifications(chain: chain ?? self.chain, app: app, seed: 1)
    return String(
      decoding: try samples.next(SampleKind(.didRenew), signedDate: clock.wallTime).jws, as: UTF8.self)
  }

  func sign(_ payload: JSONObject, by chain: SigningChain? = nil) throws -> String {
    String(decoding: try (chain ?? self.chain).sign(payload.serialized()), as: UTF8.self)
  }

  /// A chain of another authority with the shape of Apple's.
  func foreignChain() throws -> SigningChain { try SigningChain.generate(at: clock.wallTime, seed: 0xBAD) }

  /// The response of Get Transaction Info.
  func transactionInfo(environment: AppStoreEnvironment = .production) throws -> ExchangeAnswer {
    .json(200, ["signedTransactionInfo": .string(try transaction(environment: environment))])
  }
}

/// Collects values from closures.
final class Recorder<Element: Sendable>: Sendable {
  private let elements = Mutex<[Element]>([])
  var all: [Element] { elements.withLock { $0 } }
  func add(_ element: Element) { elements.withLock { $0.append(element) } }
}

/// The error that `body` throws; nil if it throws none.
func apiError<Value: Sendable>(
  of body: () async throws(APIError) -> Value
) async -> APIError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}
