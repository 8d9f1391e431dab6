// A verified chain, with everything needed to verify later tokens under it.
import AppStore
import Crypto

/// The identity of a chain: leaf and intermediate, byte for byte. The third entry of `x5c` is not part of it, because
/// an attacker can choose it and verification ignores it.
struct ChainKey: Sendable, Hashable {
  let leaf: [UInt8]
  let intermediate: [UInt8]
}

/// A chain that leads to a trusted root and has Apple's markers. Its dates are checked separately.
final class ProvenChain: Sendable {
  let key: ChainKey
  let publicKey: P256.Signing.PublicKey
  let window: ValidityWindow
  let certificates: CertificateChain

  init(key: ChainKey, publicKey: P256.Signing.PublicKey, window: ValidityWindow, certificates: CertificateChain) {
    self.key = key
    self.publicKey = publicKey
    self.window = window
    self.certificates = certificates
  }

  /// Returns the fault of data signed at `moment`, or nil if the chain was valid at that time.
  func fault(at moment: Timestamp) -> VerificationError? {
    guard !window.contains(moment) else { return nil }
    return VerificationError(
      .chain, "the chain is valid \(window.notBefore.rfc3339) to \(window.notAfter.rfc3339), not at \(moment.rfc3339)"
    )
  }
}
