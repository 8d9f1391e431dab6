public import AppStore

/// The app that samples are about.
public struct SampleApp: Sendable, Hashable {
  /// The app's bundle identifier.
  public var bundleId: String
  /// The app's Apple ID. Production carries it always; Sandbox in everything but TEST.
  public var appAppleId: Int64
  /// Production or Sandbox.
  public var environment: AppStoreEnvironment

  /// An app as it is configured; the defaults are an example's.
  public init(
    bundleId: String = "com.example.app", appAppleId: Int64 = 1_234_567_890,
    environment: AppStoreEnvironment = .production
  ) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environment = environment
  }

  var isProduction: Bool { environment == .production }

  var payload: PayloadApp {
    PayloadApp(bundleId: bundleId, appAppleId: appAppleId, bundleVersion: "421", environment: environment)
  }
}
