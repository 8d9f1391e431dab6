// The App Store Connect keys of an app. Descriptions never include private keys.

internal import JWTKit

/// An In-App Purchase key from App Store Connect.
public struct APIKey: Sendable {
  /// The issuer ID, a UUID (Users and Access, Integrations).
  public let issuerId: String
  /// The key ID, ten characters.
  public let keyId: String
  let privateKey: ES256PrivateKey

  /// Creates a key.
  ///
  /// - Parameter privateKeyPEM: The contents of `SubscriptionKey_….p8`, which App Store Connect lets you download once.
  /// - Throws: ``CredentialsError`` if the text is not a P-256 private key in PEM.
  public init(issuerId: String, keyId: String, privateKeyPEM: String) throws(CredentialsError) {
    guard !issuerId.isEmpty, !keyId.isEmpty else {
      throw CredentialsError(keyId: keyId, what: "the issuer ID or key ID is empty")
    }
    do {
      privateKey = try ES256PrivateKey(pem: Self.canonical(privateKeyPEM))
    } catch {
      // The parser's error is dropped, because it may quote the key.
      throw CredentialsError(keyId: keyId, what: "the private key is not a P-256 key in PEM (PKCS #8)")
    }
    self.issuerId = issuerId
    self.keyId = keyId
  }

  /// Returns the key in the form that parsers of PEM accept: lines of 64 characters. Editors and secret stores join the
  /// lines, change their ends, or add a byte order mark.
  private static func canonical(_ text: String) -> String {
    let (first, last) = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----")
    guard let begin = text.firstRange(of: first), let end = text[begin.upperBound...].firstRange(of: last) else {
      return text
    }
    var rest = text[begin.upperBound..<end.lowerBound].filter { !$0.isWhitespace }[...]
    var lines = [first]
    while !rest.isEmpty {
      lines.append(String(rest.prefix(64)))
      rest = rest.dropFirst(64)
    }
    return (lines + [last]).joined(separator: "\n") + "\n"
  }
}

extension APIKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The key ID and issuer ID, never the private key.
  public var description: String { "key \(keyId) of issuer \(issuerId)" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// The issuer ID and key ID, so that dumps do not show the private key.
  public var customMirror: Mirror { Mirror(self, children: ["issuerId": issuerId, "keyId": keyId]) }
}

/// The credentials for calling the API on behalf of an app.
public struct APICredentials: Sendable {
  /// The bundle identifier of the app.
  public let bundleId: String
  /// The app's keys, the preferred one first. There are two during a key rotation.
  public let keys: [APIKey]

  /// Creates credentials.
  ///
  /// - Throws: ``CredentialsError`` if `keys` is empty.
  public init(bundleId: String, keys: [APIKey]) throws(CredentialsError) {
    guard !keys.isEmpty else { throw CredentialsError(keyId: nil, what: "app \(bundleId) has no API key") }
    self.bundleId = bundleId
    self.keys = keys
  }
}

/// An unusable key.
public struct CredentialsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The key ID; nil if the app has no key.
  public let keyId: String?
  /// The problem. Never contains the key itself.
  public let what: String

  /// The key ID, the problem and the remedy.
  public var description: String {
    (keyId.map { "key \($0): " } ?? "") + what + "; use the .p8 file from App Store Connect"
  }
}
