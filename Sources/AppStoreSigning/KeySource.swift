// Creates the keys and serial numbers of a chain from the system's random numbers or from a seed.
import Crypto
import X509

/// Creates keys. A seed creates the same keys in every process.
///
/// Signatures still differ every time, because swift-crypto's ECDSA is randomized.
enum KeySource {
  case random
  case seeded(UInt64)

  func p384(_ label: String) throws(SigningError) -> P384.Signing.PrivateKey {
    switch self {
    case .random: return P384.Signing.PrivateKey()
    case .seeded(let seed):
      return try firstKey(seed, label, count: 48) { try P384.Signing.PrivateKey(rawRepresentation: $0) }
    }
  }

  func p256(_ label: String) throws(SigningError) -> P256.Signing.PrivateKey {
    switch self {
    case .random: return P256.Signing.PrivateKey()
    case .seeded(let seed):
      return try firstKey(seed, label, count: 32) { try P256.Signing.PrivateKey(rawRepresentation: $0) }
    }
  }

  func serialNumber(_ label: String) -> Certificate.SerialNumber {
    switch self {
    case .random: return Certificate.SerialNumber()
    case .seeded(let seed):
      var bytes = Array(Self.material(seed, label + " serial", attempt: 0).prefix(16))
      bytes[0] = bytes[0] & 0x7F | 0x01
      return Certificate.SerialNumber(bytes: bytes)
    }
  }

  /// A digest can be outside the curve's order (about once in 2³² for P-256). The next digest is used instead.
  private func firstKey<Key>(
    _ seed: UInt64, _ label: String, count: Int, make: ([UInt8]) throws -> Key
  ) throws(SigningError) -> Key {
    var cause = "no attempt"
    for attempt in 0..<8 {
      do {
        return try make(Array(Self.material(seed, label, attempt: attempt).prefix(count)))
      } catch {
        cause = String(describing: error)
      }
    }
    throw SigningError.keyNotMade(key: label, cause: cause)
  }

  private static func material(_ seed: UInt64, _ label: String, attempt: Int) -> [UInt8] {
    Array(SHA512.hash(data: Array("millrace test key \(seed) \(label) \(attempt)".utf8)))
  }
}
