// Decides which apps signed data is accepted for, as a value without certificates or a clock.
public import AppStore

/// The apps and environments for which signed data is accepted. One endpoint can serve several apps and both
/// environments.
///
/// No policy accepts the environments Xcode and LocalTesting, because Apple does not sign their data.
public struct IdentityPolicy: Sendable, Hashable {
  /// The requirements of one app; nil requires nothing.
  struct Rule: Sendable, Hashable {
    var bundleId: String?
    var appAppleId: Int64?
    var environments: Set<AppStoreEnvironment>?
  }

  let rules: [Rule]

  /// Accepts data for any app.
  public static let any = IdentityPolicy(bundleId: nil)

  /// Accepts data for these apps. With an empty list, nothing is accepted.
  public init(_ apps: [AppIdentity]) {
    rules = apps.map {
      Rule(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: $0.environments)
    }
  }

  /// Accepts data for one app; nil skips a comparison.
  public init(bundleId: String?, appAppleId: Int64? = nil, environments: Set<AppStoreEnvironment>? = nil) {
    rules = [Rule(bundleId: bundleId, appAppleId: appAppleId, environments: environments)]
  }

  /// Returns the fault of data with these claims, or nil if it is for an accepted app.
  ///
  /// Like Apple's libraries, it checks the bundle and app ID before the environment, so that data for another app is
  /// reported as such.
  func fault(in claims: IdentityClaims) -> VerificationError? {
    var candidates = rules
    if claims.namesBundle {
      candidates = candidates.filter { $0.bundleId == nil || $0.bundleId == claims.bundleId }
      if candidates.isEmpty {
        return VerificationError(
          .appIdentifier, claims.bundleId.map { "bundle \($0) is not expected" } ?? "no bundleId")
      }
    }
    if claims.namesApp, claims.environment == .production {
      candidates = candidates.filter { $0.appAppleId == nil || $0.appAppleId == claims.appAppleId }
      if candidates.isEmpty {
        let found = claims.appAppleId.map { "appAppleId \($0) is not expected" } ?? "no appAppleId"
        return VerificationError(.appIdentifier, found)
      }
    }
    let isLocal = claims.environment == .xcode || claims.environment == .localTesting
    let isExpected = candidates.contains { rule in
      guard let environments = rule.environments else { return true }
      return claims.environment.map(environments.contains) ?? false
    }
    guard !isLocal, isExpected else {
      let found = claims.environment.map { "environment \($0.rawValue) is not expected" } ?? "no environment"
      return VerificationError(.environment, found)
    }
    return nil
  }
}
