// App Store Server API clients for the configured apps. They share one budget and one connection pool.

internal import AppStore
package import AppStoreServerAPI
internal import AppStoreSignature
internal import MillraceTime
internal import Logging
package import MillraceCore

struct AppStoreClients: Sendable {
  let budget: APIBudget
  private let clients: [String: AppStoreServerClient]

  /// Creates a client for every app that has credentials.
  /// - Parameter given: Credentials by app, for tests. Configured credentials take precedence.
  /// - Throws: ``MillraceError`` if a key file cannot be used; it names the file.
  init(
    _ configuration: MillraceConfiguration, credentials given: [String: APICredentials] = [:],
    verifier: SignedDataVerifier, exchange: any HTTPExchange, budget: APIBudget, clock: MillraceClock, logger: Logger
  ) throws(MillraceError) {
    self.budget = budget
    var clients: [String: AppStoreServerClient] = [:]
    for (index, app) in configuration.apps.enumerated() {
      let configured = try app.credentials(under: "apps[\(index)].api.privateKeyFile")
      guard let credentials = configured ?? (clients[app.bundleId] == nil ? given[app.bundleId] : nil) else { continue }
      clients[app.bundleId] = AppStoreServerClient(
        credentials: credentials, appAppleId: app.appAppleId,
        environments: app.environments,
        baseURLs: APIBaseURLs(
          production: configuration.appStore.productionURL, sandbox: configuration.appStore.sandboxURL),
        verifier: verifier, exchange: exchange, budget: budget, clock: clock, logger: logger)
    }
    self.clients = clients
  }

  /// Returns the client of an app.
  /// - Throws: ``HandlerError`` if the app has no credentials.
  func client(for bundleId: String?) throws(HandlerError) -> AppStoreServerClient {
    if let client = bundleId.flatMap({ clients[$0] }) { return client }
    throw HandlerError(
      "api-not-configured",
      "no API credentials for \(bundleId ?? "a record without a bundle id"); set apps[].api, then requeue")
  }
}

extension AppSettings {
  /// Reads the app's key file and returns the credentials, or nil if none are configured.
  /// - Throws: ``MillraceError`` if the file cannot be used; it names the file.
  package func credentials(under key: String) throws(MillraceError) -> APICredentials? {
    guard let issuerId = api.issuerId, let keyId = api.keyId, let file = api.privateKeyFile else { return nil }
    let secret: SecretFile
    do { secret = try SecretFile(file) } catch { throw error.under(key: key) }
    do {
      let pem = secret.withBytes { String(decoding: $0, as: UTF8.self) }
      return try APICredentials(
        bundleId: bundleId, keys: [try APIKey(issuerId: issuerId, keyId: keyId, privateKeyPEM: pem)])
    } catch {
      throw MillraceError(.configuration, error.what, at: key, remedy: "use the .p8 file from App Store Connect")
    }
  }
}
