// An app whose signed data is expected.
public import AppStore

/// An app whose signed data is expected.
public struct AppIdentity: Sendable, Hashable {
  /// The app's bundle identifier, compared byte for byte.
  public var bundleId: String
  /// The app's Apple ID; judged for Production only, and not judged when nil. Configuration demands it for Production.
  public var appAppleId: Int64?
  /// The environments whose data is expected.
  public var environments: Set<AppStoreEnvironment>

  /// An app in those environments.
  public init(bundleId: String, appAppleId: Int64? = nil, environments: Set<AppStoreEnvironment>) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environments = environments
  }
}
