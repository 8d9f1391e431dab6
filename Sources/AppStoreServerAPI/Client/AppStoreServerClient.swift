// The client of one app. It holds the state that calls share. Extensions define the endpoints, one group per file, and
// CallRunner performs the calls.

public import AppStore
public import AppStoreSignature
public import MillraceTime
public import Logging

/// Calls the App Store Server API for one app.
///
/// The client is a value; its copies share connections, tokens and budget. Copies can have different values of
/// ``timeLimit`` and ``patience``. The client retries only once after a 401. For any other failure, the ``APIError``
/// says whether a retry is worthwhile, and the caller decides. All calls throw ``APIError``, respect ``timeLimit`` and
/// end when their task is cancelled.
public struct AppStoreServerClient: Sendable {
  /// The longest duration of a call, including the wait for a rate-limit slot, by the client's clock.
  public var timeLimit: Duration
  /// How long a call waits for a rate-limit slot, within ``timeLimit``.
  public var patience = RateLimitWait()

  /// Receives production's 401 before the sandbox is asked. Nil: a 401 ends the call. Only reads without a named
  /// environment ask the sandbox.
  package var onUnreleased: (@Sendable (APIError) -> Void)?

  /// The app.
  public let bundleId: String
  let environments: [AppStoreEnvironment]
  let runner: CallRunner

  /// Creates a client for one app.
  ///
  /// - Parameters:
  ///   - credentials: The app and its keys.
  ///   - appAppleId: The app's Apple ID. If given, production data with another ID is rejected.
  ///   - environments: The environments of the app. A request without an environment goes to production first.
  ///   - baseURLs: Apple's URLs, or a simulator's.
  ///   - verifier: Verifies signed data in responses.
  ///   - exchange: Sends requests; share one among all clients.
  ///   - budget: Limits the request rate; share one among all clients.
  ///   - clock: The clock for tokens and time limits.
  ///   - timeLimit: See ``timeLimit``; nil for 30 seconds of real time, whatever the clock's rate.
  ///   - logger: Logs rejected tokens and paused budgets.
  public init(
    credentials: APICredentials, appAppleId: Int64? = nil,
    environments: [AppStoreEnvironment] = [.production, .sandbox], baseURLs: APIBaseURLs = .apple,
    verifier: SignedDataVerifier, exchange: any HTTPExchange, budget: APIBudget, clock: MillraceClock,
    timeLimit: Duration? = nil, logger: Logger
  ) {
    self.timeLimit = timeLimit ?? .seconds(30) * clock.rate
    self.bundleId = credentials.bundleId
    self.environments = environments
    self.runner = CallRunner(
      credentials: credentials, appAppleId: appAppleId, baseURLs: baseURLs, verifier: verifier, exchange: exchange,
      budget: budget, clock: clock, logger: logger)
  }

  /// Returns the client with another time limit.
  public func within(_ timeLimit: Duration) -> AppStoreServerClient {
    var client = self
    client.timeLimit = timeLimit
    return client
  }

  /// Returns the client with another limit for waiting.
  public func waiting(_ patience: RateLimitWait) -> AppStoreServerClient {
    var client = self
    client.patience = patience
    return client
  }

  /// Returns how long a call would currently wait for a rate-limit slot; see ``APIBudget/delay(for:)``.
  public func delay(for endpoint: APIEndpoint, in environment: AppStoreEnvironment) -> Duration? {
    runner.budget.delay(for: BudgetKey(bundleId: bundleId, environment: environment, endpoint: endpoint))
  }

  /// Takes a rate-limit slot before the call is made. A caller that records an intent first uses this, so that it
  /// records nothing for a call that has to wait.
  ///
  /// The returned client's next call to this endpoint and environment does not wait, unless a 429 has arrived in the
  /// meantime. An unused slot is lost, so do not take one for a call that was already made.
  ///
  /// - Returns: the client that holds the slot.
  /// - Throws: `APIError` of kind ``APIError/Kind-swift.enum/budget`` if the slot is further away than ``patience`` or
  ///   ``timeLimit`` allows. No slot is used in that case.
  public func takingTurn(
    for endpoint: APIEndpoint, in environment: AppStoreEnvironment
  ) async throws(APIError) -> AppStoreServerClient {
    let call = APICall(endpoint: endpoint, environment: environment, path: [])
    var client = self
    client.patience.taken = try await runner.takeTurn(for: call, within: timeLimit, patience)
    return client
  }
}

extension AppStoreServerClient {
  /// Makes a call and reads its response.
  func call<Value>(
    _ call: APICall, violations: [RequestViolation] = [],
    read: (ResponseReader) async throws(APIError) -> APIResponse<Value>
  ) async throws(APIError) -> APIResponse<Value> {
    guard violations.isEmpty else { throw APIError(call, .violation(violations), .never) }
    let response = try await read(try await runner.run(call, within: timeLimit, patience: patience))
    runner.report(response.skipped, of: call)
    return response
  }

  /// Makes a call whose response has no body. If there is a body, it is ignored: the status is sufficient, and a
  /// connection that fails afterwards has no effect.
  func callWithoutBody(_ call: APICall, violations: [RequestViolation]) async throws(APIError) -> APIResponse<Void> {
    try await self.call(call, violations: violations) { (reader) throws(APIError) in reader.response(()) }
  }

  /// Sends a request to the given environment. Without one, it asks production and, if production does not know the
  /// transaction (error 4040010), the sandbox, as Apple documents. Production answers 401 until the app's first release,
  /// so ``onUnreleased`` allows the same after a 401.
  func locate<Value>(
    in environment: AppStoreEnvironment?,
    _ ask: (AppStoreEnvironment) async throws(APIError) -> APIResponse<Value>
  ) async throws(APIError) -> APIResponse<Value> {
    if let environment { return try await ask(environment) }
    guard environments.count != 1, environments.contains(.production) else {
      return try await ask(environments.first ?? .production)
    }
    var refusal: APIError?
    do {
      return try await ask(.production)
    } catch {
      if case .unauthorized = error.kind, let onUnreleased {
        onUnreleased(error)
        refusal = error
      } else {
        guard error.code == .transactionIdNotFound else { throw error }
      }
    }
    do {
      return try await ask(.sandbox)
    } catch {
      // The sandbox has no answer, so production's is the one to act on.
      if let refusal, error.code == .transactionIdNotFound || error.status == 401 { throw refusal }
      var error = error
      if error.code == .transactionIdNotFound { error.alsoAsked = [.production] }
      throw error
    }
  }
}
