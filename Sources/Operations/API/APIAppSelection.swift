// Selects the app of an API call: the one that `--app` names, or the only configured one.

package import AppStore
package import MillraceCore

/// A configured app with App Store Server API credentials.
package struct APIApp: Sendable, Hashable {
  /// The app's settings; ``AppSettings/api`` is complete.
  package let settings: AppSettings
  /// The path of the app in the configuration: `apps[0]`.
  package let place: String
  /// The environment to ask; nil: production first, then the sandbox.
  package let environment: AppStoreEnvironment?

  /// Selects the app that `--app` and `--environment` name.
  ///
  /// - Throws: ``OperationError`` that names the flag and its valid values; `MillraceError` that names the missing
  ///   configuration key.
  package init(
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

  /// The environment for endpoints that need exactly one: the named one, else production if the app has it.
  package var oneEnvironment: AppStoreEnvironment {
    environment ?? (settings.environments.contains(.production) ? .production : .sandbox)
  }

  private static func settings(of app: String?, in apps: [AppSettings]) throws -> (Int, AppSettings) {
    let names = apps.map(\.bundleId).joined(separator: ", ")
    guard let app else {
      guard let only = apps.first else {
        throw MillraceError(
          .configuration, "no app is configured", at: "apps", remedy: "name a configuration with --config, or add one")
      }
      guard apps.count == 1 else {
        throw OperationError(.usage, "several apps are configured", at: "--app", remedy: "name one of \(names)")
      }
      return (0, only)
    }
    guard let found = apps.enumerated().first(where: { $0.element.bundleId == app }) else {
      throw OperationError(
        .usage, "no configured app is named \"\(app)\"", at: "--app",
        remedy: apps.isEmpty ? "add it to apps" : "name one of \(names)")
    }
    return (found.offset, found.element)
  }
}
