// The keys of App Store Connect that an app is called with. Private keys stay out of every description.

internal import JWTKit

/// An In-App Purchase key of App Store Connect.
public struct APIKey: Sendable {
  /// The issuer, a UUID; Users and Access, Integrations.
  public let issuerId: String
  /// The key's identifier, ten characters.
  public let keyId: String
  let privateKey: ES256PrivateKey

  /// Reads a key.
  ///
  /// - Parameter privateKeyPEM: What App Store Connect lets you download once, `SubscriptionKey_….p8`.
  /// - Throws: ``CredentialsError`` when that is no P-256 private key in PEM.
  public init(issuerId: String, keyId: String, privateKeyPEM: String) throws(CredentialsError) {
    guard !issuerId.isEmpty, !keyId.isEmpty else {
      throw CredentialsError(keyId: keyId, what: "issuer or key identifier is empty")
    }
    do {
      privateKey = try ES256PrivateKey(pem: privateKeyPEM)
    } catch {
      // The parser's error may quote what it could not parse.
      throw CredentialsError(keyId: keyId, what: "the private key is no P-256 key in PEM (PKCS #8)")
    }
    self.issuerId = issuerId
    self.keyId = keyId
  }
}

extension APIKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Issuer and key identifier; the private key never.
  public var description: String { "key \(keyId) of issuer \(issuerId)" }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Issuer and key identifier, so that dumps do not look inside.
  public var customMirror: Mirror { Mirror(self, children: ["issuerId": issuerId, "keyId": keyId]) }
}

/// What an app is called with.
public struct APICredentials: Sendable {
  /// The app.
  public let bundleId: String
  /// Its keys, the preferred one first. While a key is being replaced there are two.
  public let keys: [APIKey]

  /// The keys of an app.
  ///
  /// - Throws: ``CredentialsError`` when there is no key.
  public init(bundleId: String, keys: [APIKey]) throws(CredentialsError) {
    guard !keys.isEmpty else { throw CredentialsError(keyId: nil, what: "app \(bundleId) has no key for the API") }
    self.bundleId = bundleId
    self.keys = keys
  }
}

/// Why a key cannot be used.
public struct CredentialsError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The key; nil when there is none.
  public let keyId: String?
  /// What is wrong. Never the key itself.
  public let what: String

  /// The key, what is wrong, what to do.
  public var description: String {
    (keyId.map { "key \($0): " } ?? "") + what + "; give the .p8 file that App Store Connect made"
  }
}
