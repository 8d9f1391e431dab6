// What `millrace verify` is asked, and by whom it lets itself be told: flags first, then the configuration.

public import Clocks
public import AppStore
public import AppStoreSignature
public import Millrace

/// One verification, as a command line asks for it.
public struct VerifyRequest: Sendable, Hashable {
  /// `--root`: DER or PEM files to trust instead of Apple's root.
  public var roots: [String] = []
  /// `--bundle-id`
  public var bundleId: String?
  /// `--app-apple-id`
  public var appAppleId: Int64?
  /// `--environment`
  public var environment: AppStoreEnvironment?
  /// `--kind`
  public var kind = SignedDataKind.notification

  /// A notification for any app, under Apple's root.
  public init() {}

  /// The environments that `--environment` takes: those whose tokens Apple signs.
  public static let environments = [AppStoreEnvironment.production, .sandbox]

  /// What a command line says.
  ///
  /// - Parameter environment: one of ``environments``, as Apple spells it.
  /// - Throws: ``OperationError`` that names `--environment` and the names it takes.
  public init(
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
        .usage, "no environment is named \"\(environment)\"", at: "--environment", remedy: "use one of \(names)")
    }
    self.environment = known
  }

  /// For whom the token may be: what the flags say; without one, the apps of the configuration; without a configuration,
  /// anybody.
  public func identity(_ configuration: MillraceConfiguration?) -> IdentityPolicy {
    if bundleId == nil, appAppleId == nil, environment == nil {
      guard let configuration, !configuration.apps.isEmpty else { return .any }
      return IdentityPolicy(
        configuration.apps.map {
          AppIdentity(bundleId: $0.bundleId, appAppleId: $0.appAppleId, environments: Set($0.environments))
        })
    }
    return IdentityPolicy(bundleId: bundleId, appAppleId: appAppleId, environments: environment.map { [$0] })
  }

  /// A verifier for the roots of the flags; without one, those of the configuration; without any, Apple's.
  ///
  /// Whether certificates were revoked is not asked: a verification at a terminal works without a network.
  /// - Throws: ``OperationError`` that names `--root`, or `MillraceError` that names the file of the configuration.
  public func verifier(_ configuration: MillraceConfiguration?, clock: MillraceClock) throws -> SignedDataVerifier {
    var trust = configuration?.trust ?? TrustSettings()
    guard !roots.isEmpty else { return try SignedDataVerifier.configured(trust, clock: clock) }
    trust.roots = roots
    do {
      return try SignedDataVerifier.configured(trust, clock: clock)
    } catch {
      // A problem that is not about one file is about all that the flags name, not about a key of the configuration.
      let problems = error.problems.map { problem in
        let place = problem.place.flatMap { roots.contains($0) ? $0 : nil } ?? roots.joined(separator: ", ")
        return "\(place): \(problem.what)"
      }
      throw OperationError(
        .usage, problems.joined(separator: ", "), at: "--root", remedy: "name a certificate in DER or PEM")
    }
  }
}
