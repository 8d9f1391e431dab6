// Who signed data has to be for. A decision on values: no certificates, no clock.
public import AppStore

/// Which apps and environments signed data may be for: several apps and both environments on one endpoint.
///
/// Xcode and LocalTesting are never accepted, by no policy: such data is not signed by Apple.
public struct IdentityPolicy: Sendable, Hashable {
  /// What one app demands; nil demands nothing.
  struct Rule: Sendable, Hashable {
    var bundleId: String?
    var appAppleId: Int64?
    var environments: Set<AppStoreEnvironment>?
  }

  let rules: [Rule]

  /// Whatever Apple signed, for whichever app.
  public static let any = IdentityPolicy(bundleId: nil)

  /// Data for one of these apps; with none, nothing is accepted.
  public init(_ apps: [AppIdentity]) {
    rules = apps.map {
      Rule(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: $0.environments)
    }
  }

  /// Data for one app of which only some facts are known; nil judges nothing.
  public init(bundleId: String?, appAppleId: Int64? = nil, environments: Set<AppStoreEnvironment>? = nil) {
    rules = [Rule(bundleId: bundleId, appAppleId: appAppleId, environments: environments)]
  }

  /// What is wrong with data that makes `claims`; nil when it is for an expected app.
  ///
  /// Bundle and app id are judged before the environment, as in Apple's libraries, so that data for a foreign app is
  /// reported as that.
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
