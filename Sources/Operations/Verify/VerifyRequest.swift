// The request of `millrace verify`. Flags take precedence over the configuration.

package import MillraceTime
package import AppStore
package import AppStoreSignature
package import MillraceCore

/// A verification request.
package struct VerifyRequest: Sendable, Hashable {
  /// `--root`: DER or PEM files to trust instead of Apple's root.
  package var roots: [String] = []
  /// `--bundle-id`
  package var bundleId: String?
  /// `--app-apple-id`
  package var appAppleId: Int64?
  /// `--environment`
  package var environment: AppStoreEnvironment?
  /// `--kind`
  package var kind = SignedDataKind.notification

  /// Verifies a notification for any app with Apple's root.
  package init() {}

  /// The values of `--environment`: the environments whose tokens Apple signs.
  package static let environments = [AppStoreEnvironment.production, .sandbox]

  /// Creates a request from flags.
  ///
  /// - Parameter environment: One of ``environments``, in Apple's spelling.
  /// - Throws: ``OperationError`` that names `--environment` and its valid values.
  package init(
    roots: [String], bundleId: String?, appAppleId: Int64?, environment: String?, kind: SignedDataKind
  ) throws(OperationError) {
    self.roots = roots
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.kind = kind
    guard let environment else { return }
    guard let known = Self.environments.first(where: { $0.rawValue == environment }) else {
      let names = Self.environments.map(\.rawValue).joined(separator: ", ")
      throw OperationError(
        .usage, "unknown environment \"\(environment)\"", at: "--environment", remedy: "use one of \(names)")
    }
    self.environment = known
  }

  /// The accepted apps: those in the flags; without flags, those in the configuration; without either, all apps.
  package func identity(_ configuration: MillraceConfiguration?) -> IdentityPolicy {
    if bundleId == nil, appAppleId == nil, environment == nil {
      guard let configuration, !configuration.apps.isEmpty else { return .any }
      return IdentityPolicy(
        configuration.apps.map {
          AppIdentity(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: Set($0.environments))
        })
    }
    return IdentityPolicy(bundleId: bundleId, appAppleId: appAppleId, environments: environment.map { [$0] })
  }

  /// Creates a verifier with the roots of the flags; without flags, of the configuration; without either, Apple's root.
  ///
  /// Checks certificates for revocation if the configuration says so (`trust.revocation`). Without a configuration,
  /// does not use the network.
  ///
  /// - Parameter transport: Sends the requests to the OCSP responder.
  /// - Throws: ``OperationError`` that names `--root`, or `MillraceError` that names the configured file.
  package func verifier(
    _ configuration: MillraceConfiguration?, clock: MillraceClock, transport: any OCSPTransport = HTTPOCSPTransport()
  ) throws -> SignedDataVerifier {
    var trust = configuration?.trust ?? TrustSettings()
    // Who asks about a file wants to know whether each of its tokens is genuine.
    trust.innerTokens = .verified
    let revocation = trust.revocation.checker(clock: clock, transport: transport)
    guard !roots.isEmpty else {
      return try SignedDataVerifier.configured(trust, clock: clock, revocation: revocation)
    }
    trust.roots = roots
    do {
      return try SignedDataVerifier.configured(trust, clock: clock, revocation: revocation)
    } catch {
      // A problem that concerns no single file concerns all files of the flags, not a configuration key.
      let problems = error.problems.map { problem in
        let place = problem.place.flatMap { roots.contains($0) ? $0 : nil } ?? roots.joined(separator: ", ")
        return "\(place): \(problem.what)"
      }
      throw OperationError(
        .usage, problems.joined(separator: ", "), at: "--root", remedy: "pass a certificate in DER or PEM format")
    }
  }
}
