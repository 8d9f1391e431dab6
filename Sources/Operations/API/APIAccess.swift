// From the configuration to a client for one command: key file, roots, base URLs, budget. The connection lives as long as
// the command's work.

public import AppStoreServerAPI
internal import AppStoreSignature
public import Clocks
internal import Logging
public import Millrace

/// Makes the client of one app.
public enum APIAccess {
  /// The part of the team's budget that a command takes. It runs beside the workers and cannot see what they use; this is
  /// ten pages of a history a second.
  public static let readingPart = 0.25

  /// Runs `work` with a client, and closes its connections afterwards.
  ///
  /// - Parameter part: of the app's budget; all of it for endpoints that nobody else calls.
  /// - Throws: `MillraceError` that names the key of the configuration, or what `work` throws.
  public static func with<Result: Sendable>(
    _ app: APIApp, _ configuration: MillraceConfiguration, clock: MillraceClock, part: Double = readingPart,
    _ work: @Sendable (AppStoreServerClient) async throws -> Result
  ) async throws -> Result {
    let credentials = try credentials(of: app)
    let verifier = try SignedDataVerifier.configured(configuration.trust, clock: clock)
    return try await connected { exchange in
      try await work(
        client(
          app, configuration.appStore, credentials: credentials, verifier: verifier, exchange: exchange,
          budget: budget(configuration.appStore, part: part, clock: clock), clock: clock))
    }
  }

  /// Runs `work` with a client for each app, all of one budget, and closes their connections afterwards.
  ///
  /// - Throws: `MillraceError` that names the key of the configuration, or what `work` throws.
  public static func withClients<Result: Sendable>(
    of apps: [APIApp], _ configuration: MillraceConfiguration, clock: MillraceClock, budget: APIBudget,
    _ work: @Sendable ([String: AppStoreServerClient]) async throws -> Result
  ) async throws -> Result {
    let verifier = try SignedDataVerifier.configured(configuration.trust, clock: clock)
    return try await connected { exchange in
      try await work(
        try clients(
          of: apps, configuration, verifier: verifier, exchange: exchange, budget: budget, clock: clock))
    }
  }

  /// A client for each app.
  static func clients(
    of apps: [APIApp], _ configuration: MillraceConfiguration, verifier: SignedDataVerifier,
    exchange: any HTTPExchange, budget: APIBudget, clock: MillraceClock
  ) throws(MillraceError) -> [String: AppStoreServerClient] {
    var clients: [String: AppStoreServerClient] = [:]
    for app in apps {
      clients[app.settings.bundleId] = client(
        app, configuration.appStore, credentials: try credentials(of: app), verifier: verifier, exchange: exchange,
        budget: budget, clock: clock)
    }
    return clients
  }

  private static func connected<Result: Sendable>(
    _ work: (AsyncHTTPExchange) async throws -> Result
  ) async throws -> Result {
    let exchange = AsyncHTTPExchange()
    do {
      let result = try await work(exchange)
      try await exchange.shutdown()
      return result
    } catch let failure {
      do {
        try await exchange.shutdown()
      } catch {
        // What went wrong first is what the operator has to hear.
      }
      throw failure
    }
  }

  /// What a command may use of Apple's limits, or of a rehearsal's.
  public static func budget(
    _ settings: AppStoreSettings, part: Double, clock: MillraceClock,
    onPause: @escaping @Sendable (BudgetPause) -> Void = { _ in }
  ) -> APIBudget {
    APIBudget(
      limits: .divided(by: settings.limitDivisor), share: settings.share, part: part, clock: clock, onPause: onPause)
  }

  /// A client over an exchange and a budget of any making.
  static func client(
    _ app: APIApp, _ settings: AppStoreSettings, credentials: APICredentials, verifier: SignedDataVerifier,
    exchange: any HTTPExchange, budget: APIBudget, clock: MillraceClock
  ) -> AppStoreServerClient {
    AppStoreServerClient(
      credentials: credentials, appAppleId: app.settings.appAppleId, environments: app.settings.environments,
      baseURLs: APIBaseURLs(production: settings.productionURL, sandbox: settings.sandboxURL), verifier: verifier,
      exchange: exchange, budget: budget, clock: clock,
      logger: Logger(label: "millrace.api") { _ in SwiftLogNoOpLogHandler() })
  }

  /// The key of the app.
  /// - Throws: `MillraceError` that names the key of the configuration and, where it is about the file, the file.
  static func credentials(of app: APIApp) throws(MillraceError) -> APICredentials {
    let api = app.settings.api
    let place = "\(app.place).api.privateKeyFile"
    let file = api.privateKeyFile ?? ""
    let pem: [UInt8]
    do {
      pem = try Files.read(file, limit: 64 << 10)
    } catch {
      throw MillraceError(
        .configuration,
        error.problems.map { MillraceError.Problem($0.what, at: "\(place): \(file)", remedy: $0.remedy) })
    }
    do {
      let key = try APIKey(
        issuerId: api.issuerId ?? "", keyId: api.keyId ?? "", privateKeyPEM: String(decoding: pem, as: UTF8.self))
      return try APICredentials(bundleId: app.settings.bundleId, keys: [key])
    } catch {
      throw MillraceError(
        .configuration, error.what, at: "\(place): \(file)", remedy: "name the .p8 file that App Store Connect made")
    }
  }
}
