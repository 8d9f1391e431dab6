// The App Store Server API for every configured app, sharing one budget and one set of connections.

internal import AppStore
public import AppStoreServerAPI
internal import AppStoreSignature
internal import Clocks
internal import Logging

/// Clients by app.
struct AppStoreClients: Sendable {
  let budget: APIBudget
  private let clients: [String: AppStoreServerClient]

  /// Clients for the apps that have credentials.
  /// - Parameter given: Credentials that are not in the configuration, by app: a test's.
  /// - Throws: ``MillraceError`` that names the key file that cannot be used.
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

  /// The client of an app.
  /// - Throws: ``PermanentFailure`` where the app has no credentials.
  func client(for bundleId: String?) throws(PermanentFailure) -> AppStoreServerClient {
    if let client = bundleId.flatMap({ clients[$0] }) { return client }
    throw PermanentFailure(
      "api-not-configured",
      "no API credentials for \(bundleId ?? "an app that is not named"); set apps[].api and requeue")
  }
}

extension AppSettings {
  /// The app's credentials; the key file is read now. Nil where the app has none.
  /// - Throws: ``MillraceError`` that names the file.
  public func credentials(under key: String) throws(MillraceError) -> APICredentials? {
    guard let issuerId = api.issuerId, let keyId = api.keyId, let file = api.privateKeyFile else { return nil }
    let secret: SecretFile
    do { secret = try SecretFile(file) } catch { throw error.under(key: key) }
    do {
      let pem = secret.withBytes { String(decoding: $0, as: UTF8.self) }
      return try APICredentials(
        bundleId: bundleId, keys: [try APIKey(issuerId: issuerId, keyId: keyId, privateKeyPEM: pem)])
    } catch {
      throw MillraceError(.configuration, error.what, at: key, remedy: "give the .p8 file that App Store Connect made")
    }
  }
}

extension APIError: ClassifiedFailure {
  /// What an operator's class means for a record that waits on the call.
  public var disposition: FailureDisposition {
    if case .budget = kind { return retryAt.map { .wait(until: $0) } ?? .retryBySchedule }
    if case .rateLimited = kind, let retryAt { return .wait(until: retryAt) }
    return switch errorClass {
    case .retryNow, .configuration: .retryBySchedule
    case .retryLater: retryAt.map { .retryAt($0) } ?? .retryBySchedule
    case .never: .deadLetter(reason: "apple-refused")
    }
  }
}
