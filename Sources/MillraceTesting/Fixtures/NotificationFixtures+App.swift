// The app of the fixtures, in the form that a deployment's configuration has.

package import AppStoreServerAPI
internal import AppStoreSigning
public import MillraceCore

extension NotificationFixtures {
  /// Returns the app's entry in a configuration.
  /// - Parameter settings: Settings to keep, other than the app's ids and environment.
  public func appSettings(_ settings: AppSettings = AppSettings()) -> AppSettings {
    var settings = settings
    settings.bundleId = app.bundleId
    settings.appAppleId = app.appAppleId
    settings.environments = [app.environment]
    return settings
  }

  /// Returns credentials with a key that only a test's App Store accepts.
  package func credentials() throws -> [String: APICredentials] {
    [app.bundleId: try .harness(of: app.bundleId, chain)]
  }
}
