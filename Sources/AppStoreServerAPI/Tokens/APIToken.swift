// A bearer token and how long it is worth sending.

internal import AppStore
internal import JWTKit

/// A token as Apple takes it (App Store Server API, *Generating JSON Web Tokens for API requests*).
struct APIToken: Sendable {
  /// How far `iat` lies in the past: a clock that is ahead of Apple's by less does no harm.
  static let backdating = Duration.seconds(60)
  /// From `iat` to `exp`. Apple takes up to an hour.
  static let lifetime = Duration.seconds(20 * 60)
  /// A token this close to its end is not sent any more.
  static let margin = Duration.seconds(120)

  /// Tells apart tokens that were made in the same second.
  let serial: Int
  /// Which of the keys made it.
  let keyIndex: Int
  let jwt: String
  let expires: Timestamp

  func isFresh(at now: Timestamp) -> Bool { now + Self.margin < expires }
}

/// The claims of a token.
struct APIClaims: JWTPayload {
  let iss: String
  let iat: Int64
  let exp: Int64
  let aud: String
  let bid: String

  init(issuerId: String, bundleId: String, now: Timestamp) {
    let issued = now - APIToken.backdating
    iss = issuerId
    iat = issued.millisecondsSince1970 / 1000
    exp = (issued + APIToken.lifetime).millisecondsSince1970 / 1000
    aud = "appstoreconnect-v1"
    bid = bundleId
  }

  /// Nothing: tokens are made here, never accepted.
  func verify(using algorithm: some JWTAlgorithm) {}
}
