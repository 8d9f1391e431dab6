// Distinguishes certificates with unknown algorithms from bytes that are not certificates. The former may be a change
// at Apple.
import Crypto
import SwiftASN1
import X509

/// A certificate from `x5c`, parsed as far as possible.
enum PresentedCertificate: Sendable {
  /// A certificate that swift-certificates can parse.
  case readable(ParsedCertificate)
  /// A well-formed certificate whose key or signature algorithm swift-certificates does not support, and its key if
  /// that is on P-256. No chain can be verified with it.
  case unsupported(key: P256.Signing.PublicKey?, fault: VerificationError)

  /// - Throws: ``VerificationError/Reason/certificate`` if the bytes are not an X.509 certificate in DER.
  init(der: [UInt8], position: String) throws(VerificationError) {
    do {
      self = .readable(ParsedCertificate(der: der, certificate: try Certificate(derEncoded: der)))
    } catch let error as CertificateError
      where error.code == .unsupportedPublicKeyAlgorithm || error.code == .unsupportedSignatureAlgorithm
    {
      guard let outline = CertificateOutline(der: der) else { throw Self.isNone(position) }
      let part = error.code == .unsupportedPublicKeyAlgorithm ? "key" : "signature"
      self = .unsupported(
        key: outline.p256Key,
        fault: VerificationError(.chain, "the \(part) of the \(position) uses an unsupported algorithm"))
    } catch {
      throw Self.isNone(position)
    }
  }

  private static func isNone(_ position: String) -> VerificationError {
    VerificationError(.certificate, "the \(position) is not an X.509 certificate in DER")
  }

  /// The key that must have signed the token if this is the leaf.
  ///
  /// - Throws: the same errors as ``LeafCertificate/init(_:)``.
  var signingKey: P256.Signing.PublicKey {
    get throws(VerificationError) {
      switch self {
      case .readable(let parsed): return try LeafCertificate(parsed).publicKey
      case .unsupported(let key, _):
        guard let key else { throw LeafCertificate.notOnP256 }
        return key
      }
    }
  }
}

/// The parts of a certificate that are in fixed places according to RFC 5280, section 4.1, for any algorithm.
struct CertificateOutline {
  /// The subject's key; nil if it is not on P-256.
  let p256Key: P256.Signing.PublicKey?

  /// Returns nil if the bytes do not have the structure of a certificate.
  init?(der: [UInt8]) {
    do {
      let key = try DER.sequence(try DER.parse(der), identifier: .sequence) { parts in
        let key = try DER.sequence(try Self.next(&parts), identifier: .sequence) { fields in
          _ = try DER.optionalExplicitlyTagged(&fields, tagNumber: 0, tagClass: .contextSpecific) { $0 }
          // Serial number, signature algorithm, issuer, validity, subject; then the subject's key.
          try Self.expect(.integer, &fields)
          for _ in 0..<4 { try Self.expect(.sequence, &fields) }
          let key = try Self.next(&fields)
          try Self.expectAlgorithmAndBits(key)
          while fields.next() != nil {}
          return key
        }
        try Self.expect(.sequence, &parts)
        try Self.expect(.bitString, &parts)
        return key
      }
      p256Key = Self.p256Key(key)
    } catch {
      return nil
    }
  }

  private static func p256Key(_ key: ASN1Node) -> P256.Signing.PublicKey? {
    do {
      return try P256.Signing.PublicKey(derRepresentation: key.encodedBytes)
    } catch {
      return nil
    }
  }

  /// `SubjectPublicKeyInfo`: an algorithm and a key.
  private static func expectAlgorithmAndBits(_ node: ASN1Node) throws {
    try DER.sequence(node, identifier: .sequence) { fields in
      try expect(.sequence, &fields)
      try expect(.bitString, &fields)
    }
  }

  private static func expect(_ identifier: ASN1Identifier, _ nodes: inout ASN1NodeCollection.Iterator) throws {
    let node = try next(&nodes)
    guard node.identifier == identifier else { throw ASN1Error.unexpectedFieldType(node.identifier) }
  }

  private static func next(_ nodes: inout ASN1NodeCollection.Iterator) throws -> ASN1Node {
    guard let node = nodes.next() else {
      throw ASN1Error.invalidASN1Object(reason: "a field of the certificate is missing")
    }
    return node
  }
}
