// An app for which signed data is accepted.
public import AppStore

/// An app for which signed data is accepted.
public struct AppIdentity: Sendable, Hashable {
  /// The app's bundle identifier, compared byte for byte.
  public var bundleId: String
  /// The app's Apple ID. It is compared in Production only; nil skips the comparison. The configuration requires it for
  /// Production.
  public var appAppleId: Int64?
  /// The accepted environments.
  public var environments: Set<AppStoreEnvironment>

  /// Creates an identity.
  public init(bundleId: String, appAppleId: Int64? = nil, environments: Set<AppStoreEnvironment>) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environments = environments
  }
}
