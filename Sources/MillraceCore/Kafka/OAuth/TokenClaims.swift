internal import AppStore

/// The claims of a JSON Web Token that Millrace reads before it passes the token on. It does not verify it: the broker does.
struct TokenClaims {
  /// The end of the validity in milliseconds since 1970 (`exp`, RFC 7519); nil if the token is no JWT or has none.
  var expiresAt: Int64?
  /// The name of the client (`sub`).
  var subject: String?

  init(_ token: some Collection<UInt8>) {
    let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64.decodeURL(parts[1]), let claims = try? JSONObject(parsing: bytes) else {
      return
    }
    // A time may have a fraction.
    let seconds: Double? =
      switch claims["exp"] {
      case .integer(let whole)?: Double(whole)
      case .number(let text)?: Double(text)
      default: nil
      }
    expiresAt = seconds.flatMap { Int64(exactly: ($0 * 1_000).rounded(.down)) }
    if case .string(let name)? = claims["sub"] { subject = name }
  }
}
