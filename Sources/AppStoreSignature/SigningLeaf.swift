// Whom a verifier has seen sign: so that a certificate nobody has seen before is noticed on the day it comes.
public import AppStore
internal import Crypto

/// A leaf certificate under which something genuine was signed.
public struct SigningLeaf: Sendable, Hashable {
  /// SHA-256 of its DER encoding, 64 lower-case hexadecimal digits.
  public let fingerprint: String
  /// When its chain ends.
  public let notAfter: Timestamp
}

extension ProvenChain {
  var signingLeaf: SigningLeaf {
    let digits = Array("0123456789abcdef".utf8)
    let text = SHA256.hash(data: key.leaf).flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return SigningLeaf(fingerprint: String(decoding: text, as: UTF8.self), notAfter: window.notAfter)
  }
}
