// Verifies a request's token according to "Generating JSON Web Tokens for API requests".

internal import AppStore
internal import Crypto

/// An API key that a team created in App Store Connect.
struct CallerKey: Sendable {
  let issuerId: String
  let keyId: String
  let publicKey: P256.Signing.PublicKey

  /// Apps of one team can share a key.
  func isSame(as other: CallerKey) -> Bool {
    issuerId == other.issuerId && publicKey.rawRepresentation == other.publicKey.rawRepresentation
  }
}

/// The claims of an accepted token.
struct BearerClaims: Sendable, Hashable {
  let issuerId: String
  let keyId: String
  /// `bid`; nil if the token has none.
  let bundleId: String?
}

/// The reason a token was rejected. The caller only receives 401; the journal records the reason.
enum TokenFlaw: String, Error, Sendable, Hashable, CaseIterable {
  case missing = "no Authorization header with a bearer token"
  case malformed = "the token is not a compact JWS: three base64url segments, the first two JSON objects"
  case algorithm = "alg is not ES256"
  case type = "typ is not JWT"
  case unknownKey = "kid is missing or is not a key of any app"
  case issuer = "iss is not the issuer of the key"
  case signature = "the signature does not match the key"
  case audience = "aud is not appstoreconnect-v1"
  case noExpiry = "exp is missing or is not a number of seconds"
  case expired = "exp has passed"
  case issuedInFuture = "iat is in the future"
  case livesTooLong = "exp is more than 60 minutes after iat"
  case app = "the app is not available in this environment or belongs to another issuer"
}

/// Verifies tokens with a tolerance for clock skew.
struct TokenCheck: Sendable, Hashable {
  static let audience = "appstoreconnect-v1"
  static let longestLife = Duration.seconds(3_600)

  /// The tolerated difference between the caller's clock and the simulator's.
  var skew: Duration

  /// Returns the claims of the token in an `Authorization` header.
  ///
  /// - Parameter key: finds a key by its identifier.
  func claims(
    in authorization: String?, now: Timestamp, key: (String) -> CallerKey?
  ) throws(TokenFlaw) -> BearerClaims {
    guard let authorization, let token = Self.bearer(authorization) else { throw .missing }
    let segments = token.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard segments.count == 3, let encodedHeader = segments.first, let encodedSignature = segments.last,
      let header = Self.object(in: encodedHeader), let claims = Self.object(in: segments[1]),
      let signature = Base64.decodeURL(Array(encodedSignature))
    else { throw .malformed }
    guard header["alg"] == "ES256" else { throw .algorithm }
    if let type = header["typ"], type != "JWT" { throw .type }
    guard let keyId = header["kid"].flatMap(String.init(jsonValue:)), let key = key(keyId) else { throw .unknownKey }
    let input = token.utf8.dropLast(encodedSignature.count + 1)
    guard Self.isSigned(Array(input), signature, by: key.publicKey) else { throw .signature }
    guard claims["iss"] == .string(key.issuerId) else { throw .issuer }
    guard Self.isMeantForUs(claims["aud"]) else { throw .audience }
    try checkTimes(claims, now: now)
    return BearerClaims(
      issuerId: key.issuerId, keyId: keyId, bundleId: claims["bid"].flatMap(String.init(jsonValue:)))
  }

  /// `iat` may be missing, because two of Apple's own libraries omit it. The lifetime then counts from now.
  private func checkTimes(_ claims: JSONObject, now: Timestamp) throws(TokenFlaw) {
    guard let expires = claims["exp"].flatMap(Self.moment) else { throw .noExpiry }
    guard expires > now - skew else { throw .expired }
    let issued = claims["iat"].flatMap(Self.moment)
    if let issued, issued > now + skew { throw .issuedInFuture }
    guard expires - (issued ?? now + skew) <= Self.longestLife else { throw .livesTooLong }
  }

  private static func moment(_ value: JSON) -> Timestamp? {
    switch value {
    case .integer(let seconds):
      let (milliseconds, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
      return overflow ? nil : Timestamp(millisecondsSince1970: milliseconds)
    case .number(let text):
      return Double(text).flatMap { Int64(exactly: ($0 * 1_000).rounded(.down)) }.map {
        Timestamp(millisecondsSince1970: $0)
      }
    default: return nil
    }
  }

  /// RFC 7519 allows `aud` to be a string or an array of strings.
  private static func isMeantForUs(_ value: JSON?) -> Bool {
    switch value {
    case .string(let text): text == audience
    case .array(let several): several.contains(.string(audience))
    default: false
    }
  }

  private static func bearer(_ authorization: String) -> Substring? {
    let scheme = authorization.prefix { $0 != " " }
    guard scheme.lowercased() == "bearer" else { return nil }
    let token = authorization.dropFirst(scheme.count).drop { $0 == " " }
    return token.isEmpty ? nil : token
  }

  private static func object(in segment: Substring.UTF8View.SubSequence) -> JSONObject? {
    guard let bytes = Base64.decodeURL(Array(segment)) else { return nil }
    do {
      return try JSONObject(parsing: bytes)
    } catch {
      return nil
    }
  }

  private static func isSigned(_ input: [UInt8], _ signature: [UInt8], by key: P256.Signing.PublicKey) -> Bool {
    do {
      return key.isValidSignature(try P256.Signing.ECDSASignature(rawRepresentation: signature), for: input)
    } catch {
      return false
    }
  }
}
