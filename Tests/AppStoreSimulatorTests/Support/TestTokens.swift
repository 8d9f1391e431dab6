// Tokens made by hand. Each can have exactly one error.

import AppStore
import Crypto

@testable import AppStoreSimulator

/// A caller with an App Store Connect key.
struct TestCaller {
  var issuerId = "57246542-96fe-1a63-e053-0824d011072a"
  var keyId = "2X9R4HXF34"
  var bundleId = "com.example.app"
  var privateKey = P256.Signing.PrivateKey()

  var apiKey: CallerKey { CallerKey(issuerId: issuerId, keyId: keyId, publicKey: privateKey.publicKey) }

  /// The key as App Store Connect knows it.
  var credentials: PublicAPIKey {
    PublicAPIKey(issuerId: issuerId, keyId: keyId, publicKeyPEM: privateKey.publicKey.pemRepresentation)
  }

  func claims(now: Timestamp, life: Int64 = 300) -> JSONObject {
    let seconds = now.millisecondsSince1970 / 1_000
    return [
      "iss": .string(issuerId), "iat": .integer(seconds), "exp": .integer(seconds + life),
      "aud": "appstoreconnect-v1", "bid": .string(bundleId),
    ]
  }

  var header: JSONObject { ["alg": "ES256", "kid": .string(keyId), "typ": "JWT"] }

  /// The value of `Authorization`.
  func authorization(_ claims: JSONObject, header: JSONObject? = nil) throws -> String {
    let input =
      Base64.encodeURL((header ?? self.header).serialized()) + [UInt8(ascii: ".")]
      + Base64.encodeURL(claims.serialized())
    let signature = try privateKey.signature(for: input).rawRepresentation
    return "Bearer " + String(decoding: input + [UInt8(ascii: ".")] + Base64.encodeURL(signature), as: UTF8.self)
  }

  func authorization(now: Timestamp) throws -> String { try authorization(claims(now: now)) }
}

extension JSONObject {
  /// This object with one member changed or removed.
  func with(_ key: String, _ value: JSON?) -> JSONObject {
    var copy = self
    copy[key] = value
    return copy
  }
}

extension Timestamp {
  /// 2026-01-01T00:00:00Z, the default start of manual clocks.
  static let newYear = Timestamp(millisecondsSince1970: 1_767_225_600_000)
}
