// Checks when the certificates of the configuration expire.

package import AppStore
internal import AppStoreServerAPI
package import MillraceCore

/// A certificate that expires within 21 days, or has expired.
package struct ExpiringCertificate: Sendable, Hashable {
  /// The key of the configuration that names the file.
  package var key: String
  /// The file.
  package var path: String
  /// The end of its validity.
  package var end: Timestamp

  /// The action to take.
  package static let remedy = "renew it; processes read the new file without a restart"

  /// Creates a certificate.
  package init(key: String, path: String, end: Timestamp) { (self.key, self.path, self.end) = (key, path, end) }
}

/// Checks the certificates of the ingress and of clients.
package enum CertificateChecks {
  /// Returns the certificates that this process can read and that expire soon, without those in settings of workers.
  package static func expiring(_ configuration: MillraceConfiguration, at now: Timestamp) -> [ExpiringCertificate] {
    certificates(configuration, workers: []).filter { $0.end - now < CertificateExpiry.notice }
  }

  private static func certificates(
    _ configuration: MillraceConfiguration, workers forms: [WorkerSettingsForm]
  ) -> [ExpiringCertificate] {
    let own = configuration.files(workers: forms).filter { file in
      ["certificate", "certificateFile", "ssl.certificate.location"].contains { file.key.hasSuffix(".\($0)") }
    }
    // The check of files reports one that cannot be read.
    return own.compactMap { key, path in
      TLSFiles.end(ofCertificate: path).map { ExpiringCertificate(key: key, path: path, end: $0) }
    }
  }

  static func findings(
    _ configuration: MillraceConfiguration, workers forms: [WorkerSettingsForm], at now: Timestamp
  ) -> [DoctorFinding] {
    let ends = certificates(configuration, workers: forms)
    let soon = ends.filter { $0.end - now < CertificateExpiry.notice }.map { certificate in
      DoctorFinding(
        .certificates, certificate.end <= now ? .failure : .warning,
        "\(certificate.path) \(certificate.end <= now ? "expired" : "expires") at \(certificate.end.rfc3339)",
        of: certificate.key, remedy: ExpiringCertificate.remedy)
    }
    guard soon.isEmpty else { return soon }
    let days = CertificateExpiry.notice.components.seconds / 86_400
    return [
      DoctorFinding(
        .certificates, .good,
        ends.isEmpty
          ? "the configuration names none"
          : "\(HumanText.count(ends.count, "certificate")) valid for more than \(days) days")
    ]
  }
}
