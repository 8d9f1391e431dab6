// The configuration of one production app that calls a simulator, for this project's own tests.

internal import AppStore
package import MillraceCore

extension MillraceConfiguration {
  /// Returns a configuration of one app that calls these URLs.
  ///
  /// - Parameters:
  ///   - key: The app's API key; nil if the app has none.
  ///   - keyFile: The path of the key's PEM file.
  package static func calling(
    bundleId: String, appAppleId: Int64 = 1_234_567_890, key: (issuerId: String, keyId: String)?, keyFile: String,
    production: String, sandbox: String
  ) -> MillraceConfiguration {
    var app = AppSettings()
    app.bundleId = bundleId
    app.appAppleId = appAppleId
    app.environments = [.production]
    if let key {
      app.api.issuerId = key.issuerId
      app.api.keyId = key.keyId
      app.api.privateKeyFile = keyFile
    }
    var configuration = MillraceConfiguration()
    configuration.apps = [app]
    configuration.appStore.productionURL = production
    configuration.appStore.sandboxURL = sandbox
    return configuration
  }
}
