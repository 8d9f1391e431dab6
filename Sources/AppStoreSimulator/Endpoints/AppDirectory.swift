// The apps and keys that can call the API, as in App Store Connect.

internal import AppStore
internal import Crypto

/// The apps by bundle identifier, and the keys by key identifier.
struct AppDirectory: Sendable {
  private let apps: [String: SimulatedApp]
  private let keys: [String: CallerKey]

  /// - Throws: an error if a public key is not a P-256 key in PEM, or if two different keys have the same identifier.
  init(_ apps: [SimulatedApp]) throws {
    var keys: [String: CallerKey] = [:]
    for credentials in apps.flatMap(\.credentials) {
      let key = CallerKey(
        issuerId: credentials.issuerId, keyId: credentials.keyId,
        publicKey: try P256.Signing.PublicKey(pemRepresentation: credentials.publicKeyPEM))
      if let other = keys[key.keyId], !other.isSame(as: key) {
        throw ScenarioError("apps", "two different keys have the same identifier \(key.keyId)")
      }
      keys[key.keyId] = key
    }
    self.keys = keys
    self.apps = Dictionary(apps.map { ($0.bundleId, $0) }) { first, _ in first }
  }

  /// The key with this identifier.
  func key(_ keyId: String) -> CallerKey? { keys[keyId] }

  /// Returns the app that a token gives access to in an environment.
  ///
  /// If the app is not available in the environment or belongs to another team, the caller only receives 401.
  func bundleId(_ claims: BearerClaims, in environment: AppStoreEnvironment) throws(CallerRefusal) -> String {
    guard let bundleId = claims.bundleId, !bundleId.isEmpty else { throw .failure(.invalidAppIdentifier) }
    guard let app = apps[bundleId] else { throw .failure(.appNotFound) }
    guard app.environments.contains(environment), app.credentials.contains(where: { $0.issuerId == claims.issuerId })
    else { throw .token(.app) }
    return bundleId
  }
}

/// The reason a caller was rejected.
enum CallerRefusal: Error, Sendable, Hashable {
  case token(TokenFlaw)
  case failure(APIFailure)

  var answer: APIAnswer {
    switch self {
    case .token: .unauthenticated
    case .failure(let failure): .failure(failure)
    }
  }

  var detail: String {
    switch self {
    case .token(let refusal): refusal.rawValue
    case .failure(let failure): "\(failure.code) \(failure.message)"
    }
  }
}
