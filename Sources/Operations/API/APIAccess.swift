// Builds an App Store Server API client for one command from the configuration: key file, roots, base URLs and budget.
// Connections stay open until the command's work is done.

package import AppStoreServerAPI
internal import AppStoreSignature
package import MillraceTime
internal import Logging
package import MillraceCore
internal import MillraceWorker

/// Creates App Store Server API clients from the configuration.
package enum APIAccess {
  /// The part of the app's budget that a read-only command takes: ten pages of a history per second. On endpoints that
  /// both call, workers leave this part to commands.
  package static let readingPart = 0.25

  /// Runs `work` with a client and closes the client's connections afterwards.
  ///
  /// - Parameter part: The part of the app's budget to use. Pass 1 for endpoints that no worker calls.
  /// - Throws: `MillraceError` that names the configuration key, or the error of `work`.
  package static func with<Result: Sendable>(
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

  /// Runs `work` with one client per app, all on the same budget, and closes the connections afterwards.
  ///
  /// - Throws: `MillraceError` that names the configuration key, or the error of `work`.
  static func withClients<Result: Sendable>(
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

  /// One client per app.
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
        // Report the first error: a failure to close the connections is secondary.
      }
      throw failure
    }
  }

  /// The part of Apple's limits, or of a rehearsal's limits, that a command may use.
  package static func budget(
    _ settings: AppStoreSettings, part: Double, clock: MillraceClock,
    onPause: @escaping @Sendable (BudgetPause) -> Void = { _ in }
  ) -> APIBudget {
    APIBudget(
      limits: .divided(by: settings.limitDivisor), share: settings.share,
      // The only endpoint that both a worker and a command with the whole budget call.
      division: { $0 == .getMassExtendStatus ? APIShares.commands(at: $0) : 1 }, part: part, clock: clock,
      onPause: onPause)
  }

  /// Creates a client with the given exchange and budget.
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

  /// The app's API credentials.
  /// - Throws: `MillraceError` that names the configuration key and, if the file is at fault, the file.
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
        .configuration, error.what, at: "\(place): \(file)", remedy: "use the .p8 file from App Store Connect")
    }
  }
}
