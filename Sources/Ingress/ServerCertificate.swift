// TLS for the endpoint. Reloads the certificate when its file changes, because a process can outlive its certificate.

internal import Logging
internal import MillraceCore
internal import NIOCertificateReloading
internal import NIOSSL

/// The certificate and key of the endpoint, reloaded when their files change.
struct ServerCertificate: Sendable {
  /// How often the files are checked.
  static let refreshInterval = Duration.seconds(10)

  let reloader: TimedCertificateReloader
  let configuration: TLSConfiguration

  /// When the present certificate expires, in seconds since 1970; nil if none is loaded.
  var end: Int? {
    switch reloader.sslContextConfigurationOverride.certificateChain?.first {
    case .certificate(let leaf): Int(leaf.notValidAfter)
    default: nil
    }
  }

  /// Reads both files now, so that an invalid file fails at start instead of at the first handshake.
  /// - Throws: ``MillraceError`` that names the configuration key.
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
        .configuration, "could not load the TLS certificate or key: \(error)", at: "ingress.tls",
        remedy: "set a PEM certificate chain and its PEM private key")
    }
  }
}
