// The error of this module: the reason signed data was rejected.

/// The reason signed data was rejected, in a class that an operator can act on.
///
/// The message names the problem and never quotes the payload, because errors end up in logs.
public struct VerificationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The class of a rejection. `millrace verify` prints the raw value, and metrics count by it.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// The data is not a compact JWS (segments, base64url, JSON) or has a `crit` header, which is not supported. Also a
    /// payload of another kind, such as a notification without `notificationType`.
    case format
    /// `alg` is not exactly `ES256`.
    case algorithm
    /// `x5c` does not contain exactly three certificates.
    case chainLength = "chain-length"
    /// The leaf or intermediate is not an X.509 certificate in DER.
    case certificate
    /// The certificates do not lead to a trusted root, lack Apple's markers, use an unsupported algorithm, or were not
    /// valid when the data was signed.
    case chain
    /// The signature is not a raw ES256 signature by the leaf over these bytes.
    case signature
    /// The data is genuine, but for an app that is not configured.
    case appIdentifier = "app-identifier"
    /// The data is genuine, but for an environment that is not configured.
    case environment
    /// The OCSP responder says that the leaf or intermediate was revoked.
    case revoked
    /// The data is otherwise genuine, but its revocation status is currently unavailable.
    case temporary
    /// The verifier is configured with an unreadable root.
    case configuration
  }

  /// The class.
  public let reason: Reason
  /// The problem, for a log.
  public let message: String
  /// Whether the chain is the only fault. The body is a well-formed ES256 token for a configured app and environment,
  /// and its own leaf signed it. A change of Apple's certificates would look like this, and so does a forger's own
  /// chain.
  public let isOnlyChainFault: Bool

  /// Whether Apple signed the data, but for an app or environment that is not configured. Such data is worth keeping
  /// until the configuration includes them.
  public var isGenuine: Bool { reason == .appIdentifier || reason == .environment }

  /// Whether the same data may be accepted later without any change.
  public var isTemporary: Bool { reason == .temporary }

  /// Creates an error.
  public init(_ reason: Reason, _ message: String, isOnlyChainFault: Bool = false) {
    self.reason = reason
    self.message = message
    self.isOnlyChainFault = isOnlyChainFault
  }

  /// Returns the same error, marked as the chain's only fault.
  func asOnlyChainFault() -> VerificationError {
    VerificationError(reason, message, isOnlyChainFault: true)
  }

  /// The class, the problem and the remedy.
  public var description: String { "\(reason.rawValue): \(message); \(advice)" }

  private var advice: String {
    switch reason {
    case .format, .algorithm, .certificate, .signature, .revoked: "reject it; the same bytes will fail again"
    case .chainLength, .chain:
      isOnlyChainFault
        ? "keep it and check whether Apple changed its certificates, or add its root to the trusted ones"
        : "reject it; the same bytes will fail again"
    case .appIdentifier, .environment: "keep it and check which apps and environments are configured"
    case .temporary: "retry later"
    case .configuration: "check the files with the trusted roots"
    }
  }
}
