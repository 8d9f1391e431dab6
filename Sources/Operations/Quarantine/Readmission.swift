// Judges a quarantined body again, by the configuration of now. No Kafka.

internal import AppStore
public import Millrace

/// Decides which quarantined bodies are admitted by the present configuration.
public struct Readmission: Sendable {
  private let admission: NotificationAdmission
  private let apps: [AppSettings]

  /// Readmission by these parts.
  ///
  /// - Parameter apps: the apps that are configured now, for version 1.
  public init(admission: NotificationAdmission, apps: [AppSettings]) {
    self.admission = admission
    self.apps = apps
  }

  /// Readmission as a configuration asks for it. Reads root certificates and shared secrets now.
  /// - Throws: `MillraceError` that names the file that cannot be read.
  public init(_ configuration: MillraceConfiguration, clock: MillraceClock) throws(MillraceError) {
    self.init(admission: try NotificationAdmission(configuration, clock: clock), apps: configuration.apps)
  }

  /// Judges a body.
  ///
  /// A version 2 body is verified anew, whoever wrote it into the quarantine. A version 1 body has lost its password on
  /// the way in: it was kept only where the ingress had found the secret right, so its app and environment are what is
  /// left to judge. Such a record is as trustworthy as write access to the quarantine; version 1 is a hint everywhere.
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
    guard let environment = body.appStoreEnvironment, app.environments.contains(environment) else {
      let name = body.appStoreEnvironment?.rawValue ?? "unknown"
      throw Refusal(
        .environmentNotConfigured, .retryLater, "environment \(name) is not configured", isWorthKeeping: true)
    }
    return .v1(body, value: record.value, bundleId: app.bundleId)
  }
}
