// From two certificates to a proven chain: swift-certificates does the cryptography of RFC 5280, we add Apple's rules.
import SwiftASN1
@_spi(DisableValidityCheck) import X509

/// Builds chains from leaf and intermediate to the trusted roots.
///
/// Dates are left out here and judged afterwards against the chain's window, so that one verdict serves tokens of all
/// dates and a cached chain cannot skip the date check.
struct ChainBuilder: Sendable {
  private let roots: [Certificate]

  /// - Throws: ``VerificationError/Reason/configuration`` for a root that is no certificate, or when there is none.
  init(trustedRoots: [[UInt8]]) throws(VerificationError) {
    guard !trustedRoots.isEmpty else { throw VerificationError(.configuration, "no trusted root") }
    var roots: [Certificate] = []
    for (index, der) in trustedRoots.enumerated() {
      do {
        roots.append(try Certificate(derEncoded: der))
      } catch {
        throw VerificationError(.configuration, "trusted root \(index + 1) is no certificate in DER")
      }
    }
    self.roots = roots
  }

  /// The chain from `leaf` over `intermediate` to a trusted root.
  ///
  /// - Throws: ``VerificationError/Reason/chain`` with the policy's reason.
  func prove(_ leaf: LeafCertificate, _ intermediate: ParsedCertificate) async throws(VerificationError) -> ProvenChain
  {
    var verifier = Verifier(rootCertificates: CertificateStore(roots)) {
      RFC5280Policy.withValidityCheckDisabled()
      AppleChainPolicy()
    }
    switch await verifier.validate(
      leaf: leaf.parsed.certificate, intermediates: CertificateStore([intermediate.certificate]))
    {
    case .couldNotValidate(let failures):
      let reason = failures.first?.policyFailureReason.description ?? "it leads to no trusted root"
      throw VerificationError(.chain, "the chain is not acceptable: \(reason)")
    case .validCertificate(let chain):
      guard let root = chain.last, chain.count == TokenHeader.chainLength else {
        throw VerificationError(.chain, "the chain is not leaf, intermediate and root")
      }
      return ProvenChain(
        key: ChainKey(leaf: leaf.parsed.der, intermediate: intermediate.der),
        publicKey: leaf.publicKey,
        window: ValidityWindow(of: Array(chain)),
        certificates: CertificateChain(
          leaf: leaf.parsed.der, intermediate: intermediate.der, root: try Self.der(of: root)))
    }
  }

  private static func der(of certificate: Certificate) throws(VerificationError) -> [UInt8] {
    do {
      var serializer = DER.Serializer()
      try serializer.serialize(certificate)
      return serializer.serializedBytes
    } catch {
      throw VerificationError(.configuration, "a trusted root cannot be written as DER")
    }
  }
}
