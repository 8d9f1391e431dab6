// TLS for the endpoint, with a certificate that is read again when its file changes: certificates live for weeks, the
// process for months.

internal import Logging
internal import Millrace
internal import NIOCertificateReloading
internal import NIOSSL

/// The certificate and key of the endpoint, kept up to date.
struct ServerCertificate: Sendable {
  /// How often the files are looked at.
  static let refreshInterval = Duration.seconds(10)

  let reloader: TimedCertificateReloader
  let configuration: TLSConfiguration

  /// When the certificate that is presented now ends, in seconds since 1970; nil where none is.
  var end: Int? {
    switch reloader.sslContextConfigurationOverride.certificateChain?.first {
    case .certificate(let leaf): Int(leaf.notValidAfter)
    default: nil
    }
  }

  /// Reads both files now, so that a wrong one stops the start and not the first handshake.
  /// - Throws: ``MillraceError`` that names the key.
  init(
    certificate: String, key: String, refreshInterval: Duration = ServerCertificate.refreshInterval, logger: Logger
  ) throws(MillraceError) {
    do {
      reloader = try TimedCertificateReloader.makeReloaderValidatingSources(
        refreshInterval: refreshInterval,
        certificateSource: .init(location: .file(path: certificate), format: .pem),
        privateKeySource: .init(location: .file(path: key), format: .pem),
        logger: logger)
      var configuration = try TLSConfiguration.makeServerConfiguration(certificateReloader: reloader)
      configuration.minimumTLSVersion = .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      self.configuration = configuration
    } catch {
      throw MillraceError(
        .configuration, "TLS cannot start: \(error)", at: "ingress.tls",
        remedy: "name a PEM certificate chain and its PEM private key")
    }
  }
}
