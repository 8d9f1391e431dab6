internal import Crypto
internal import Foundation
package import NIOSSL
internal import SwiftASN1
internal import X509

/// A self-signed certificate of a server or a client on the loopback interface.
package struct TestCertificate: Sendable {
  /// The certificate in PEM.
  package let pem: String
  /// The key in PEM.
  package let keyPEM: String

  /// A self-signed certificate for the loopback address.
  package init(_ name: String) throws {
    let key = P256.Signing.PrivateKey()
    let subject = try DistinguishedName { CommonName(name) }
    let certificate = try Certificate(
      version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey), notValidBefore: Date() - 3_600,
      notValidAfter: Date() + 3_600, issuer: subject, subject: subject, signatureAlgorithm: .ecdsaWithSHA256,
      extensions: Certificate.Extensions {
        SubjectAlternativeNames([.ipAddress(ASN1OctetString(contentBytes: [127, 0, 0, 1]))])
      }, issuerPrivateKey: .init(key))
    pem = try certificate.serializeAsPEM().pemString
    keyPEM = key.pemRepresentation
  }

  /// The settings of a server with this certificate.
  /// - Parameter client: The client certificate that it requires; nil: none.
  package func server(requiring client: TestCertificate?) throws -> TLSConfiguration {
    var tls = TLSConfiguration.makeServerConfiguration(
      certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).map { .certificate($0) },
      privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(keyPEM.utf8), format: .pem)))
    if let client {
      tls.certificateVerification = .noHostnameVerification
      tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(client.pem.utf8)))
    }
    return tls
  }
}
