// Verifies a chain from a leaf and an intermediate. swift-certificates implements RFC 5280; this file adds Apple's
// rules.
import SwiftASN1
@_spi(DisableValidityCheck) import X509

/// Builds chains from a leaf and an intermediate to the trusted roots.
///
/// Validity dates are ignored here and checked later against the chain's window. One result therefore serves tokens of
/// all dates, and a cached chain cannot bypass the date check.
struct ChainBuilder: Sendable {
  private let roots: [Certificate]

  /// - Throws: ``VerificationError/Reason/configuration`` if there is no root or a root is not a certificate.
  init(trustedRoots: [[UInt8]]) throws(VerificationError) {
    guard !trustedRoots.isEmpty else { throw VerificationError(.configuration, "no trusted root") }
    var roots: [Certificate] = []
    for (index, der) in trustedRoots.enumerated() {
      do {
        roots.append(try Certificate(derEncoded: der))
      } catch {
        throw VerificationError(.configuration, "trusted root \(index + 1) is not a certificate in DER")
      }
    }
    self.roots = roots
  }

  /// Verifies the chain from `leaf` through `intermediate` to a trusted root.
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
      throw VerificationError(.chain, "the chain is rejected: \(reason)")
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
