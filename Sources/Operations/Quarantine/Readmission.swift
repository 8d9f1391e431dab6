// Verifies a quarantined body again, with the current configuration. Does not use Kafka.

package import MillraceTime
internal import AppStore
package import MillraceCore
package import MillraceRecords

/// Decides which quarantined bodies the current configuration admits.
package struct Readmission: Sendable {
  private let admission: NotificationAdmission
  private let apps: [AppSettings]
  private let sharedSecrets: SharedSecretCheck

  /// Creates a readmission.
  ///
  /// - Parameters:
  ///   - apps: The configured apps, for version 1.
  ///   - sharedSecrets: The shared secrets of these apps.
  package init(admission: NotificationAdmission, apps: [AppSettings], sharedSecrets: SharedSecretCheck) {
    self.admission = admission
    self.apps = apps
    self.sharedSecrets = sharedSecrets
  }

  /// Creates a readmission from a configuration. Reads root certificates and shared secrets.
  /// - Throws: `MillraceError` that names the unreadable file.
  package init(_ configuration: MillraceConfiguration, clock: MillraceClock) throws(MillraceError) {
    self.init(
      admission: try NotificationAdmission(
        configuration, clock: clock, revocation: configuration.trust.revocation.checker(clock: clock)),
      apps: configuration.apps,
      sharedSecrets: try SharedSecretCheck(configuration.apps))
  }

  /// Verifies a body again.
  ///
  /// A version 2 body is fully verified, whatever wrote it to the quarantine. A version 1 body no longer has its
  /// password: the ingress kept the body only if it found a configured secret, and recorded the app of that secret.
  /// This method checks that the secret also belongs to the named app, and that the app and environment are configured.
  /// Such a record is only as trustworthy as write access to the quarantine; version 1 is a hint everywhere.
  /// - Throws: `Refusal` if the body is still not admitted.
  package func judge(_ record: QuarantineRecord) async throws(Refusal) -> AdmittedNotification {
    switch record.version {
    case .v2: try await admission.v2(jws: record.value)
    case .v1: try readmit(record)
    }
  }

  private func readmit(_ record: QuarantineRecord) throws(Refusal) -> AdmittedNotification {
    guard record.reason == .appNotConfigured || record.reason == .environmentNotConfigured else {
      throw Refusal(.wrongSecret, .unauthorized, "the ingress did not accept its shared secret")
    }
    let body: ResponseBodyV1
    do {
      body = try ResponseBodyV1(parsing: record.value)
    } catch {
      throw Refusal(.malformed, .malformed, "\(error)")
    }
    let bundleId = body.bundleId ?? (apps.count == 1 ? apps[0].bundleId : nil)
    guard let app = apps.first(where: { $0.bundleId == bundleId }) else {
      throw Refusal(
        .appNotConfigured, .retryLater, "the app \(bundleId ?? "(none named)") is not configured", isWorthKeeping: true)
    }
    guard sharedSecrets.isSecret(of: record.secretOf, alsoOf: app.bundleId) else {
      let owners = record.secretOf.isEmpty ? "an unrecorded app" : record.secretOf.joined(separator: ", ")
      throw Refusal(
        .wrongSecret, .unauthorized, "its secret belongs to \(owners) and may not belong to \(app.bundleId)")
    }
    guard let environment = body.appStoreEnvironment, app.environments.contains(environment) else {
      let name = body.appStoreEnvironment?.rawValue ?? "unknown"
      throw Refusal(
        .environmentNotConfigured, .retryLater, "environment \(name) is not configured", isWorthKeeping: true)
    }
    return .v1(body, value: record.value, bundleId: app.bundleId)
  }
}
