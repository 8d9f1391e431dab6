// Checks when the certificates of the configuration expire.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceCore

/// Checks the certificates of the ingress and of clients.
enum CertificateChecks {
  static func findings(
    _ configuration: MillraceConfiguration, workers forms: [WorkerSettingsForm], at now: Timestamp
  ) -> [DoctorFinding] {
    let own = configuration.files(workers: forms).filter { file in
      ["certificate", "certificateFile", "ssl.certificate.location"].contains { file.key.hasSuffix(".\($0)") }
    }
    var ends: [(key: String, path: String, end: Timestamp)] = []
    for (key, path) in own {
      // The check of files reports one that cannot be read.
      if let end = TLSFiles.end(ofCertificate: path) { ends.append((key, path, end)) }
    }
    let soon = ends.filter { $0.end - now < CertificateExpiry.notice }.map { key, path, end in
      DoctorFinding(
        .certificates, end <= now ? .failure : .warning,
        end <= now ? "\(path) expired at \(end.rfc3339)" : "\(path) expires at \(end.rfc3339)", of: key,
        remedy: "renew it; processes read the new file without a restart")
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
