// Certificates out of x5c, read but not believed.
import Crypto
import SwiftASN1
import X509

/// A certificate with the bytes it was read from.
struct ParsedCertificate: Sendable {
  let der: [UInt8]
  let certificate: Certificate

  init(der: [UInt8], position: String) throws(VerificationError) {
    self.der = der
    do {
      certificate = try Certificate(derEncoded: der)
    } catch {
      throw VerificationError(.certificate, "the \(position) is no X.509 certificate in DER")
    }
  }
}

/// A leaf whose key can check ES256.
struct LeafCertificate: Sendable {
  let parsed: ParsedCertificate
  let publicKey: P256.Signing.PublicKey

  /// - Throws: ``VerificationError/Reason/signature`` when the key is not on P-256, since then nothing it made is
  ///   ES256; ``VerificationError/Reason/chain`` when it is an issuer's certificate that stands in the leaf's place.
  init(_ parsed: ParsedCertificate) throws(VerificationError) {
    self.parsed = parsed
    guard let key = P256.Signing.PublicKey(parsed.certificate.publicKey) else {
      throw Self.isAuthority(parsed.certificate)
        ? VerificationError(.chain, "x5c[0] is the certificate of an authority")
        : VerificationError(.signature, "the leaf's key is not on P-256")
    }
    publicKey = key
  }

  /// A constraint that cannot be read makes no authority; the chain check refuses it later.
  private static func isAuthority(_ certificate: Certificate) -> Bool {
    do {
      if case .isCertificateAuthority? = try certificate.extensions.basicConstraints { return true }
    } catch {
      return false
    }
    return false
  }
}
