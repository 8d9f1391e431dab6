// The certificates of an exchange's connections, from PEM files.

package import AppStore
internal import NIOSSL

/// The files that a client's TLS connections use.
package struct TLSFiles: Sendable, Hashable {
  /// The certificates that a server's certificate must lead to; nil: the system's.
  package var authority: String?
  /// The client certificate chain, leaf first; nil: none.
  package var certificate: String?
  /// The private key of the client certificate.
  package var key: String?

  /// The system's trust, without a client certificate.
  package init(authority: String? = nil, certificate: String? = nil, key: String? = nil) {
    self.authority = authority
    self.certificate = certificate
    self.key = key
  }

  /// Returns the end of the first certificate of a PEM file; nil if the file has none.
  package static func end(ofCertificate file: String) -> Timestamp? {
    do {
      return try NIOSSLCertificate.fromPEMFile(file).first.map {
        Timestamp(millisecondsSince1970: Int64($0.notValidAfter) * 1_000)
      }
    } catch {
      // Reading the file for its use reports it.
      return nil
    }
  }

  /// Reads the files.
  func configuration() throws(TransportFailure) -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    if let authority {
      let certificates = try Self.read(authority) { try NIOSSLCertificate.fromPEMFile(authority) }
      guard !certificates.isEmpty else { throw TransportFailure("\(authority) has no certificate", .notSent) }
      configuration.trustRoots = .certificates(certificates)
    }
    if let certificate, let key {
      let chain = try Self.read(certificate) { try NIOSSLCertificate.fromPEMFile(certificate) }
      configuration.certificateChain = chain.map { .certificate($0) }
      configuration.privateKey = .privateKey(
        try Self.read(key) { try NIOSSLPrivateKey(file: key, format: .pem) })
    }
    return configuration
  }

  private static func read<Value>(_ file: String, _ body: () throws -> Value) throws(TransportFailure) -> Value {
    do {
      return try body()
    } catch {
      throw TransportFailure("cannot use \(file): \(error)", .notSent)
    }
  }
}
