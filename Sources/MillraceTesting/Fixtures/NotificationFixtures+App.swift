// The app that fixtures are about, as a deployment knows it.

package import AppStoreServerAPI
internal import AppStoreSigning
public import Millrace

extension NotificationFixtures {
  /// The app as a configuration names it.
  /// - Parameter settings: What is said of it besides its ids and its environment.
  public func appSettings(_ settings: AppSettings = AppSettings()) -> AppSettings {
    var settings = settings
    settings.bundleId = app.bundleId
    settings.appAppleId = app.appAppleId
    settings.environments = [app.environment]
    return settings
  }

  /// The app's credentials, with a key that only a test's App Store takes.
  package func credentials() throws -> [String: APICredentials] {
    [app.bundleId: try .harness(of: app.bundleId, chain)]
  }
}
