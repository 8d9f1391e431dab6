// Which app a call is for: the one named, or the only one there is.

public import AppStore
public import Millrace

/// An app of the configuration that the API can be asked about.
public struct APIApp: Sendable, Hashable {
  /// Its settings; ``AppSettings/api`` is complete.
  public let settings: AppSettings
  /// Where it stands in the configuration: `apps[0]`.
  public let place: String
  /// Where to ask; nil: in production first, then in the sandbox.
  public let environment: AppStoreEnvironment?

  /// The app that `--app` and `--environment` name.
  ///
  /// - Throws: ``OperationError`` that names the flag and what it takes; `MillraceError` that names the key of the
  ///   configuration without which the app cannot be asked about.
  public init(
    app: String?, environment: String?, in configuration: MillraceConfiguration
  ) throws {
    let (index, settings) = try Self.settings(of: app, in: configuration.apps)
    place = "apps[\(index)]"
    guard settings.api.isComplete else {
      throw MillraceError(
        .configuration, "\(settings.bundleId) has no credentials for the App Store Server API", at: "\(place).api",
        remedy: "set issuerId, keyId and privateKeyFile (App Store Connect, Users and Access, Integrations)")
    }
    self.settings = settings
    guard let environment else {
      self.environment = nil
      return
    }
    guard let known = settings.environments.first(where: { $0.rawValue == environment }) else {
      let names = settings.environments.map(\.rawValue).joined(separator: ", ")
      throw OperationError(
        .usage, "\(settings.bundleId) has no environment \"\(environment)\"", at: "--environment",
        remedy: "use one of \(names)")
    }
    self.environment = known
  }

  /// Where to ask when the endpoint needs one environment: the one named, else production where the app is there.
  public var oneEnvironment: AppStoreEnvironment {
    environment ?? (settings.environments.contains(.production) ? .production : .sandbox)
  }

  private static func settings(of app: String?, in apps: [AppSettings]) throws -> (Int, AppSettings) {
    let names = apps.map(\.bundleId).joined(separator: ", ")
    guard let app else {
      guard let only = apps.first else {
        throw MillraceError(
          .configuration, "there is no app", at: "apps", remedy: "name a configuration with --config, or add an app")
      }
      guard apps.count == 1 else {
        throw OperationError(.usage, "there are several apps", at: "--app", remedy: "name one of \(names)")
      }
      return (0, only)
    }
    guard let found = apps.enumerated().first(where: { $0.element.bundleId == app }) else {
      throw OperationError(
        .usage, "no app of the configuration is named \"\(app)\"", at: "--app",
        remedy: apps.isEmpty ? "add it to apps" : "name one of \(names)")
    }
    return (found.offset, found.element)
  }
}
