public import AppStore

/// The app in sample notifications.
public struct SampleApp: Sendable, Hashable {
  /// The app's bundle identifier.
  public var bundleId: String
  /// The app's Apple ID. Production always includes it; Sandbox includes it in everything but TEST.
  public var appAppleId: Int64
  /// Production or Sandbox.
  public var environment: AppStoreEnvironment

  /// Creates an app. The defaults describe an example app.
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
