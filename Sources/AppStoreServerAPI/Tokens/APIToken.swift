// A bearer token and its expiration.

internal import AppStore
internal import JWTKit

/// A token for Apple (App Store Server API, *Generating JSON Web Tokens for API requests*).
struct APIToken: Sendable {
  /// The age of `iat` when a token is made. A local clock that is ahead of Apple's by less does no harm.
  static let backdating = Duration.seconds(60)
  /// The time from `iat` to `exp`. Apple accepts up to an hour.
  static let lifetime = Duration.seconds(20 * 60)
  /// A token is no longer sent when it expires within this time.
  static let margin = Duration.seconds(120)

  /// Distinguishes tokens that were made in the same second.
  let serial: Int
  /// The index of the key that signed the token.
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

  /// Does nothing: the client makes tokens and never accepts any.
  func verify(using algorithm: some JWTAlgorithm) {}
}
