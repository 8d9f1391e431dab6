// Which apps may call, and by which keys: what App Store Connect knows.

internal import AppStore
internal import Crypto

/// The apps of a world by bundle identifier, and their keys by key identifier.
struct AppDirectory: Sendable {
  private let apps: [String: SimulatedApp]
  private let keys: [String: CallerKey]

  /// - Throws: when a public key is no P-256 key in PEM, or two keys have one identifier.
  init(_ apps: [SimulatedApp]) throws {
    var keys: [String: CallerKey] = [:]
    for credentials in apps.flatMap(\.credentials) {
      let key = CallerKey(
        issuerId: credentials.issuerId, keyId: credentials.keyId,
        publicKey: try P256.Signing.PublicKey(pemRepresentation: credentials.publicKeyPEM))
      if let other = keys[key.keyId], !other.isSame(as: key) {
        throw ScenarioError("apps", "two different keys have the identifier \(key.keyId)")
      }
      keys[key.keyId] = key
    }
    self.keys = keys
    self.apps = Dictionary(apps.map { ($0.bundleId, $0) }) { first, _ in first }
  }

  /// The key of that identifier.
  func key(_ keyId: String) -> CallerKey? { keys[keyId] }

  /// The app that a token may speak for in an environment.
  ///
  /// An app that was never released there, or belongs to another team, is told nothing but 401.
  func bundleId(_ claims: BearerClaims, in environment: AppStoreEnvironment) throws(CallerRefusal) -> String {
    guard let bundleId = claims.bundleId, !bundleId.isEmpty else { throw .failure(.invalidAppIdentifier) }
    guard let app = apps[bundleId] else { throw .failure(.appNotFound) }
    guard app.environments.contains(environment), app.credentials.contains(where: { $0.issuerId == claims.issuerId })
    else { throw .token(.app) }
    return bundleId
  }
}

/// Why a caller is not let in.
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
