// The configuration of one app in production whose calls go to a simulator: for this project's own tests.

internal import AppStore
package import Millrace

extension MillraceConfiguration {
  /// One app that calls these URLs.
  ///
  /// - Parameters:
  ///   - key: Of its credentials; nil: it has none.
  ///   - keyFile: Where the key's PEM is.
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
