// The leaf certificates that a verifier has seen, so that a new one is noticed on its first day.
public import AppStore
internal import Crypto

/// A leaf certificate that signed genuine data.
public struct SigningLeaf: Sendable, Hashable {
  /// SHA-256 of its DER encoding: 64 lower-case hexadecimal digits.
  public let fingerprint: String
  /// The end of its chain's validity.
  public let notAfter: Timestamp
}

extension ProvenChain {
  var signingLeaf: SigningLeaf {
    let digits = Array("0123456789abcdef".utf8)
    let text = SHA256.hash(data: key.leaf).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return SigningLeaf(fingerprint: String(decoding: text, as: UTF8.self), notAfter: window.notAfter)
  }
}
