// Standard Webhooks (standardwebhooks.com), the symmetric scheme `v1`. The receiver can verify the sender and the time,
// and recognize repetitions.

internal import AppStore
internal import Crypto
package import MillraceCore

/// Signs posts to another system.
package struct WebhookSignature: Sendable {
  private let keys: [SymmetricKey]

  /// Creates a signature.
  /// - Parameters:
  ///   - secrets: `whsec_` and Base64, or the key's own bytes. During a rotation there are several, and each one signs.
  ///   - place: The key of the configuration that names the files, for errors.
  /// - Throws: `MillraceError` if a secret begins with `whsec_` and the rest is not Base64.
  package init(secrets: [[UInt8]], of place: String) throws(MillraceError) {
    var keys: [SymmetricKey] = []
    for secret in secrets { keys.append(SymmetricKey(data: try Self.key(of: secret, place))) }
    self.keys = keys
  }

  /// Returns the three headers of a message.
  /// - Parameter time: Seconds since 1970.
  package func headers(id: String, time: Int64, body: [UInt8]) -> [(name: String, value: String)] {
    let signed = Array("\(id).\(time).".utf8) + body
    let signatures = keys.map { key in
      let code = HMAC<SHA256>.authenticationCode(for: signed, using: key)
      return "v1," + String(decoding: Base64.encodeStandard(Array(code)), as: UTF8.self)
    }
    return [
      ("webhook-id", id), ("webhook-timestamp", String(time)),
      ("webhook-signature", signatures.joined(separator: " ")),
    ]
  }

  private static func key(of secret: [UInt8], _ place: String) throws(MillraceError) -> [UInt8] {
    let prefix = Array("whsec_".utf8)
    guard secret.starts(with: prefix) else { return secret }
    guard let key = Base64.decodeStandard(secret.dropFirst(prefix.count)), !key.isEmpty else {
      throw MillraceError(
        .configuration, "a secret begins with whsec_, but the rest is not Base64",
        at: place,
        remedy: "copy it again, or remove the prefix if the text itself is the key")
    }
    return key
  }
}
