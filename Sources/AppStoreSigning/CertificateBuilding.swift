// Builds the three certificates of a chain like Apple's: names, extensions, marker identifiers and ecdsa-with-SHA384.
import AppStore
import Crypto
import SwiftASN1
import X509

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The role of a certificate, and its name.
enum CertificateRole: String {
  case root, intermediate, leaf

  var commonName: String {
    switch self {
    case .root: "Millrace Test Root CA - G3"
    // RFC 5280, appendix A.1, limits the name to 64 characters.
    case .intermediate: "Test Worldwide Developer Relations Certification Authority"
    case .leaf: "Test ECC Mac App Store and iTunes Store Receipt Signing"
    }
  }

  var organizationalUnit: String {
    switch self {
    case .root: "Test Certification Authority"
    case .intermediate: "G6"
    case .leaf: "Test Worldwide Developer Relations"
    }
  }

  func name(_ shape: ChainShape) throws(SigningError) -> DistinguishedName {
    do {
      return try DistinguishedName {
        CommonName(commonName)
        OrganizationalUnitName(organizationalUnit)
        OrganizationName(shape.organization)
        CountryName("US")
      }
    } catch {
      throw SigningError.certificateNotBuilt(certificate: rawValue, cause: String(describing: error))
    }
  }
}

/// The data from which a certificate is built.
struct CertificatePlan {
  var role: CertificateRole
  var shape: ChainShape
  var notBefore: Timestamp
  var notAfter: Timestamp
  var serialNumber: Certificate.SerialNumber
  var publicKey: Certificate.PublicKey
  var issuer: DistinguishedName
  var issuerKey: P384.Signing.PrivateKey

  func certificate() throws(SigningError) -> Certificate {
    do {
      return try Certificate(
        version: .v3,
        serialNumber: serialNumber,
        publicKey: publicKey,
        notValidBefore: Date(notBefore),
        notValidAfter: Date(notAfter),
        issuer: issuer,
        subject: role.name(shape),
        signatureAlgorithm: .ecdsaWithSHA384,
        extensions: Certificate.Extensions(extensions()),
        issuerPrivateKey: Certificate.PrivateKey(issuerKey))
    } catch {
      throw SigningError.certificateNotBuilt(certificate: role.rawValue, cause: String(describing: error))
    }
  }

  private func extensions() throws -> [Certificate.Extension] {
    let issuer = SubjectKeyIdentifier(hash: Certificate.PublicKey(issuerKey.publicKey))
    let authority = try Certificate.Extension(
      AuthorityKeyIdentifier(keyIdentifier: issuer.keyIdentifier), critical: false)
    let subject = try Certificate.Extension(SubjectKeyIdentifier(hash: publicKey), critical: false)
    switch role {
    case .root:
      return [
        subject,
        try Certificate.Extension(BasicConstraints.isCertificateAuthority(maxPathLength: nil), critical: true),
        try Certificate.Extension(KeyUsage(keyCertSign: true, cRLSign: true), critical: true),
      ]
    case .intermediate:
      return [
        try Certificate.Extension(BasicConstraints.isCertificateAuthority(maxPathLength: 0), critical: true),
        authority,
      ]
        + (try statusAddress())
        + [subject, try Certificate.Extension(KeyUsage(keyCertSign: true, cRLSign: true), critical: true)]
        + (try marker(shape.intermediateMarker))
    case .leaf:
      return [
        try Certificate.Extension(BasicConstraints.notCertificateAuthority, critical: true),
        authority,
      ]
        + (try statusAddress())
        + [
          try CertificatePolicy.certificateExtension(),
          subject,
          try Certificate.Extension(KeyUsage(digitalSignature: true), critical: true),
        ]
        + (try marker(shape.leafMarker))
    }
  }

  private func statusAddress() throws -> [Certificate.Extension] {
    guard let url = shape.ocspURL else { return [] }
    let access = AuthorityInformationAccess([
      .init(method: .issuingCA, location: .uniformResourceIdentifier("http://certs.millrace.invalid/test-g6.der")),
      .init(method: .ocspServer, location: .uniformResourceIdentifier(url)),
    ])
    return [try Certificate.Extension(access, critical: false)]
  }

  /// Apple's markers contain an ASN.1 NULL. Verifiers check the identifier only.
  private func marker(_ identifier: String?) throws -> [Certificate.Extension] {
    guard let identifier else { return [] }
    let null: [UInt8] = [0x05, 0x00]
    return [
      Certificate.Extension(
        oid: try ASN1ObjectIdentifier(dotRepresentation: identifier), critical: false, value: null[...])
    ]
  }
}

extension Date {
  /// Drops fractions of a second, which certificates cannot express.
  init(_ timestamp: Timestamp) {
    self.init(timeIntervalSince1970: Double(timestamp.millisecondsSince1970 / 1000))
  }
}
