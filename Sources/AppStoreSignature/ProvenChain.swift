// A chain that was found good, with all that later tokens under it need.
import AppStore
import Crypto

/// The identity of a chain: leaf and intermediate, byte for byte. Never the third entry of `x5c`, which an attacker
/// chooses and nobody looks at.
struct ChainKey: Sendable, Hashable {
  let leaf: [UInt8]
  let intermediate: [UInt8]
}

/// A chain that leads to a trusted root and carries Apple's markers, whatever the date.
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

  /// What is wrong with data signed at `moment`; nil when the chain held then.
  func fault(at moment: Timestamp) -> VerificationError? {
    guard !window.contains(moment) else { return nil }
    return VerificationError(
      .chain, "the chain holds from \(window.notBefore.rfc3339) to \(window.notAfter.rfc3339), not at \(moment.rfc3339)"
    )
  }
}
