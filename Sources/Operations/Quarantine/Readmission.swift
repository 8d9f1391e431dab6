// Judges a quarantined body again, by the configuration of now. No Kafka.

public import Clocks
internal import AppStore
public import Millrace

/// Decides which quarantined bodies are admitted by the present configuration.
public struct Readmission: Sendable {
  private let admission: NotificationAdmission
  private let apps: [AppSettings]
  private let sharedSecrets: SharedSecretCheck

  /// Readmission by these parts.
  ///
  /// - Parameters:
  ///   - apps: the apps that are configured now, for version 1.
  ///   - sharedSecrets: the secrets of these apps.
  public init(admission: NotificationAdmission, apps: [AppSettings], sharedSecrets: SharedSecretCheck) {
    self.admission = admission
    self.apps = apps
    self.sharedSecrets = sharedSecrets
  }

  /// Readmission as a configuration asks for it. Reads root certificates and shared secrets now.
  /// - Throws: `MillraceError` that names the file that cannot be read.
  public init(_ configuration: MillraceConfiguration, clock: MillraceClock) throws(MillraceError) {
    self.init(
      admission: try NotificationAdmission(configuration, clock: clock), apps: configuration.apps,
      sharedSecrets: try SharedSecretCheck(configuration.apps))
  }

  /// Judges a body.
  ///
  /// A version 2 body is verified anew, whoever wrote it into the quarantine. A version 1 body has lost its password on
  /// the way in: it was kept only where the ingress had found a configured secret, and the record says whose. That the
  /// secret is one of the named app's too, and app and environment, are what is left to judge. Such a record is as
  /// trustworthy as write access to the quarantine; version 1 is a hint everywhere.
  /// - Throws: `Refusal` where it is not admitted now either.
  public func judge(_ record: QuarantineRecord) async throws(Refusal) -> AdmittedNotification {
    switch record.version {
    case .v2: try await admission.v2(jws: record.value)
    case .v1: try readmit(record)
    }
  }

  private func readmit(_ record: QuarantineRecord) throws(Refusal) -> AdmittedNotification {
    guard record.reason == .appNotConfigured || record.reason == .environmentNotConfigured else {
      throw Refusal(.wrongSecret, .unauthorized, "the ingress did not find its shared secret right")
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
      let owners = record.secretOf.isEmpty ? "an app not recorded" : record.secretOf.joined(separator: ", ")
      throw Refusal(
        .wrongSecret, .unauthorized, "it came with a secret of \(owners), which may be none of \(app.bundleId)'s")
    }
    guard let environment = body.appStoreEnvironment, app.environments.contains(environment) else {
      let name = body.appStoreEnvironment?.rawValue ?? "unknown"
      throw Refusal(
        .environmentNotConfigured, .retryLater, "environment \(name) is not configured", isWorthKeeping: true)
    }
    return .v1(body, value: record.value, bundleId: app.bundleId)
  }
}
