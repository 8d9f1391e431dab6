// Standard Webhooks (standardwebhooks.com), the symmetric scheme `v1`: what a receiver needs to know that we asked, when,
// and that it is the same question again.

internal import AppStore
internal import Crypto
internal import Millrace

/// Signs what is posted to a team's own system.
struct WebhookSignature: Sendable {
  private let keys: [SymmetricKey]

  /// - Parameter secrets: `whsec_` and Base64, or the key's own bytes; several during a rotation, each signs.
  /// - Throws: `MillraceError` for one that begins with `whsec_` and goes on with something else than Base64.
  init(secrets: [[UInt8]]) throws { keys = try secrets.map { SymmetricKey(data: try Self.key(of: $0)) } }

  /// The three headers of a message.
  /// - Parameter time: seconds since 1970.
  func headers(id: String, time: Int64, body: [UInt8]) -> [(name: String, value: String)] {
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

  private static func key(of secret: [UInt8]) throws -> [UInt8] {
    let prefix = Array("whsec_".utf8)
    guard secret.starts(with: prefix) else { return secret }
    guard let key = Base64.decodeStandard(secret.dropFirst(prefix.count)), !key.isEmpty else {
      throw MillraceError(
        .configuration, "a secret that begins with whsec_ and is no Base64", at: "consumption.http.secretFiles",
        remedy: "copy it again, or leave the prefix out where the key is the text itself")
    }
    return key
  }
}
