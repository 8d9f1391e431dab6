// The client of one app. It holds what calls share; the endpoints are in extensions, one group a file, and how one call
// is carried out is in CallRunner.

public import AppStore
public import AppStoreSignature
public import Clocks
public import Logging

/// Calls the App Store Server API for one app.
///
/// A value over shared parts: copies share connections, tokens and budget, and ``timeLimit`` and ``patience`` can
/// differ from copy to copy. Nothing is sent again by itself but once after a 401; what an ``APIError`` says decides, and callers do. All
/// calls throw ``APIError``, are made inside ``timeLimit``, and end when their task is cancelled.
public struct AppStoreServerClient: Sendable {
  /// The longest a call may take, waiting for its turn included, in the clock's time.
  public var timeLimit: Duration
  /// How long a call waits for its turn, at most as long as ``timeLimit``.
  public var patience = TurnPatience()

  /// The app.
  public let bundleId: String
  let environments: [AppStoreEnvironment]
  let runner: CallRunner

  /// A client for one app.
  ///
  /// - Parameters:
  ///   - credentials: The app and its keys.
  ///   - appAppleId: The app's Apple ID; judged in what production signs when given.
  ///   - environments: Where the app is. What is asked without naming an environment is asked in production first.
  ///   - baseURLs: Apple's, or a simulator's.
  ///   - verifier: Verifies what comes back.
  ///   - exchange: Carries requests; share one among all clients.
  ///   - budget: Whose turn it is; share one among all clients.
  ///   - clock: Time, for tokens and limits.
  ///   - timeLimit: See ``timeLimit``.
  ///   - logger: Told of tokens refused and budgets paused.
  public init(
    credentials: APICredentials, appAppleId: Int64? = nil,
    environments: [AppStoreEnvironment] = [.production, .sandbox], baseURLs: APIBaseURLs = .apple,
    verifier: SignedDataVerifier, exchange: any HTTPExchange, budget: APIBudget, clock: MillraceClock,
    timeLimit: Duration = .seconds(30), logger: Logger
  ) {
    self.timeLimit = timeLimit
    self.bundleId = credentials.bundleId
    self.environments = environments
    self.runner = CallRunner(
      credentials: credentials, appAppleId: appAppleId, baseURLs: baseURLs, verifier: verifier, exchange: exchange,
      budget: budget, clock: clock, logger: logger)
  }

  /// The client with another limit of time.
  public func within(_ timeLimit: Duration) -> AppStoreServerClient {
    var client = self
    client.timeLimit = timeLimit
    return client
  }

  /// The client with another patience.
  public func waiting(_ patience: TurnPatience) -> AppStoreServerClient {
    var client = self
    client.patience = patience
    return client
  }

  /// How long a call would wait for its turn now; see ``APIBudget/delay(for:)``.
  public func delay(for endpoint: APIEndpoint, in environment: AppStoreEnvironment) -> Duration? {
    runner.budget.delay(for: BudgetKey(bundleId: bundleId, environment: environment, endpoint: endpoint))
  }

  /// Waits for a turn before its call is made: for what is written down first, so that nothing is written down of a call
  /// that has to wait.
  ///
  /// The next call at that endpoint and in that environment is made at once; a 429 that somebody met meanwhile takes the
  /// turn away again. A turn that is not used is lost, so take none for what was done already.
  /// - Returns: the client that has the turn.
  /// - Throws: `APIError` of kind ``APIError/Kind-swift.enum/budget`` where the turn is further away than ``patience`` or
  ///   ``timeLimit`` allows; nothing is used up then.
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
  /// Makes one call and reads its answer.
  func call<Value>(
    _ call: APICall, violations: [RequestViolation] = [],
    read: (ResponseReader) async throws(APIError) -> APIResponse<Value>
  ) async throws(APIError) -> APIResponse<Value> {
    guard violations.isEmpty else { throw APIError(call, .violation(violations), .never) }
    return try await read(try await runner.run(call, within: timeLimit, patience: patience))
  }

  /// Makes a call that is answered without a body. What the body holds all the same is not looked at: the status says
  /// everything, and a cut connection afterwards changes nothing.
  func callWithoutBody(_ call: APICall, violations: [RequestViolation]) async throws(APIError) -> APIResponse<Void> {
    try await self.call(call, violations: violations) { (reader) throws(APIError) in reader.response(()) }
  }

  /// Asks in the environment given; without one in production, and in the sandbox when production does not know the
  /// transaction (error 4040010), as Apple documents.
  func locate<Value>(
    in environment: AppStoreEnvironment?,
    _ ask: (AppStoreEnvironment) async throws(APIError) -> APIResponse<Value>
  ) async throws(APIError) -> APIResponse<Value> {
    if let environment { return try await ask(environment) }
    guard environments.count != 1, environments.contains(.production) else {
      return try await ask(environments.first ?? .production)
    }
    do {
      return try await ask(.production)
    } catch {
      guard error.code == .transactionIdNotFound else { throw error }
    }
    do {
      return try await ask(.sandbox)
    } catch {
      var error = error
      if error.code == .transactionIdNotFound { error.alsoAsked = [.production] }
      throw error
    }
  }
}
