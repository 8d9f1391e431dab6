// The certificates of a chain in DER, for code outside the verifier.
import Crypto

/// The certificates of a verified chain, for revocation checks and for alerts about a new leaf.
public struct CertificateChain: Sendable, Hashable {
  /// The leaf in DER.
  public let leaf: [UInt8]
  /// The intermediate in DER.
  public let intermediate: [UInt8]
  /// The trusted root at the end of the chain, in DER.
  public let root: [UInt8]
  /// SHA-256 of the leaf's DER, in lower-case hexadecimal.
  public let leafFingerprint: String

  /// Creates a chain.
  public init(leaf: [UInt8], intermediate: [UInt8], root: [UInt8]) {
    self.leaf = leaf
    self.intermediate = intermediate
    self.root = root
    leafFingerprint = SHA256.hash(data: leaf).reduce(into: "") { text, byte in
      if byte < 16 { text += "0" }
      text += String(byte, radix: 16)
    }
  }
}
