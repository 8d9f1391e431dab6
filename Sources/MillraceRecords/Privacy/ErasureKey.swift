// The secret behind erasures. Transaction ids are short numbers, so a plain hash of one could be found by trying all of
// them.

internal import Crypto
package import MillraceCore

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Computes the mark of a customer's key, and encrypts the key in commands.
package struct ErasureKey: Sendable {
  /// The smallest secret, in bytes.
  static let minimumBytes = 32

  private let markKey: SymmetricKey
  private let sealKey: SymmetricKey
  /// Tells one secret from another without revealing it.
  package let fingerprint: UInt32

  /// Derives the keys from a secret.
  /// - Throws: ``MillraceError`` if the secret has fewer than ``minimumBytes``.
  package init(secret: [UInt8]) throws(MillraceError) {
    guard secret.count >= Self.minimumBytes else {
      throw MillraceError(
        .configuration, "the secret has \(secret.count) bytes; \(Self.minimumBytes) are needed", at: "privacy.keyFile",
        remedy: "create one: openssl rand -base64 32 > erasure.key")
    }
    func derived(_ purpose: String) -> SymmetricKey {
      HKDF<SHA256>.deriveKey(
        inputKeyMaterial: SymmetricKey(data: secret), info: Data("millrace erasure \(purpose)".utf8),
        outputByteCount: 32)
    }
    markKey = derived("mark")
    sealKey = derived("seal")
    fingerprint = HMAC<SHA256>.authenticationCode(for: Data("fingerprint".utf8), using: markKey).prefix(4)
      .reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// Reads the configured secret; nil if none is configured.
  /// - Throws: ``MillraceError`` if the file cannot be read or is too short.
  package init?(_ settings: PrivacySettings) throws(MillraceError) {
    guard let file = settings.keyFile else { return nil }
    let secret: SecretFile
    do { secret = try SecretFile(file) } catch { throw error.under(key: "privacy.keyFile") }
    try self.init(secret: secret.withBytes { $0 })
  }

  /// The size of a mark, in bytes.
  static let markBytes = 16

  /// Returns the mark of a record key: 16 bytes that only this secret can compute.
  package func mark(of key: [UInt8]) -> [UInt8] {
    Array(HMAC<SHA256>.authenticationCode(for: key, using: markKey).prefix(Self.markBytes))
  }

  /// Encrypts a record key. Each call gives another text, in hexadecimal digits.
  package func seal(_ key: [UInt8]) throws -> String {
    let box = try AES.GCM.seal(key, using: sealKey)
    return Hex.text(Array(box.nonce) + box.ciphertext + box.tag)
  }

  /// Decrypts a record key; nil if this secret did not encrypt it.
  package func open(_ text: String) -> [UInt8]? {
    guard let bytes = Hex.bytes(Array(text.utf8)) else { return nil }
    do { return Array(try AES.GCM.open(AES.GCM.SealedBox(combined: bytes), using: sealKey)) } catch { return nil }
  }
}
