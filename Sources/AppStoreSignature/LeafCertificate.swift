// Certificates parsed from `x5c`, not yet trusted.
import Crypto
import X509

/// A certificate and its DER bytes.
struct ParsedCertificate: Sendable {
  let der: [UInt8]
  let certificate: Certificate
}

/// A leaf whose key can verify ES256.
struct LeafCertificate: Sendable {
  let parsed: ParsedCertificate
  let publicKey: P256.Signing.PublicKey

  /// - Throws: ``VerificationError/Reason/signature`` if the key is not on P-256, because it cannot have made an ES256
  ///   signature; ``VerificationError/Reason/chain`` if the certificate is an issuer's instead of a leaf.
  init(_ parsed: ParsedCertificate) throws(VerificationError) {
    self.parsed = parsed
    guard let key = P256.Signing.PublicKey(parsed.certificate.publicKey) else {
      throw Self.isAuthority(parsed.certificate)
        ? VerificationError(.chain, "x5c[0] is the certificate of an authority, not a leaf")
        : Self.notOnP256
    }
    publicKey = key
  }

  static let notOnP256 = VerificationError(.signature, "the leaf's key is not on P-256")

  /// An unreadable constraint does not count as an authority; the chain check rejects it later.
  private static func isAuthority(_ certificate: Certificate) -> Bool {
    do {
      if case .isCertificateAuthority? = try certificate.extensions.basicConstraints { return true }
    } catch {
      return false
    }
    return false
  }
}
