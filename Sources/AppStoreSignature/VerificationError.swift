// Why signed data was not believed. The one error of this module.

/// Why signed data was not believed, in a class that an operator can act on.
///
/// The message names what was wrong and never quotes the payload: errors end in logs.
public struct VerificationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The class of a refusal. Raw values are what `millrace verify` prints and what metrics count by.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Not a compact JWS: segments, base64url, JSON, or a `crit` header, which nobody here understands.
    case format
    /// `alg` is not exactly `ES256`.
    case algorithm
    /// `x5c` does not hold exactly three certificates.
    case chainLength = "chain-length"
    /// Leaf or intermediate is no X.509 certificate in DER.
    case certificate
    /// The certificates do not lead to a trusted root, lack Apple's markers, or did not hold when the data was signed.
    case chain
    /// The signature is not a raw ES256 signature by the leaf over these bytes.
    case signature
    /// Genuine, but for an app that is not expected.
    case appIdentifier = "app-identifier"
    /// Genuine, but for an environment that is not expected.
    case environment
    /// The responder says that leaf or intermediate was revoked.
    case revoked
    /// Genuine as far as can be told: whether the chain was revoked could not be found out now.
    case temporary
    /// The verifier itself was set up with a root that cannot be read.
    case configuration
  }

  /// The class.
  public let reason: Reason
  /// What was wrong, for a log.
  public let message: String
  /// Whether the body is a well-formed ES256 token, for an app and environment that are expected, whose signature
  /// holds under its own leaf, and nothing but the chain of certificates is to blame. So would a change at Apple look;
  /// so does a forger's own chain.
  public let isOnlyChainFault: Bool

  /// Whether the data was signed under a trusted chain and is only not for us: worth keeping until the configuration
  /// knows the app and environment.
  public var isGenuine: Bool { reason == .appIdentifier || reason == .environment }

  /// Whether the same data may be accepted later without anybody changing anything.
  public var isTemporary: Bool { reason == .temporary }

  /// An error of that class.
  public init(_ reason: Reason, _ message: String, isOnlyChainFault: Bool = false) {
    self.reason = reason
    self.message = message
    self.isOnlyChainFault = isOnlyChainFault
  }

  /// The same fault, marked as the only one.
  func asOnlyChainFault() -> VerificationError {
    VerificationError(reason, message, isOnlyChainFault: true)
  }

  /// Class, what was wrong, and what to do now.
  public var description: String { "\(reason.rawValue): \(message); \(advice)" }

  private var advice: String {
    switch reason {
    case .format, .algorithm, .certificate, .signature, .revoked: "refuse it, the same bytes will fail again"
    case .chainLength, .chain:
      isOnlyChainFault
        ? "keep it and ask whether Apple changed its certificates, or trust its root if it should be trusted"
        : "refuse it, the same bytes will fail again"
    case .appIdentifier, .environment: "keep it and check which apps and environments are configured"
    case .temporary: "try again later"
    case .configuration: "check the files that hold the trusted roots"
    }
  }
}
