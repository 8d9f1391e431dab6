// The reasons for which a posted body is refused, and the consequences. No I/O.

internal import AppStoreSignature
internal import MillraceCore

/// A posted body that was not admitted.
package struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reason of a refusal. Raw values are stable: metrics and `millrace.quarantine` use them.
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Not a notification: the JSON, JWS segments, base64url or certificates are invalid.
    case malformed
    /// Not signed, or signed with an algorithm other than ES256.
    case algorithm
    /// The signature does not match the leaf certificate in the token.
    case signature
    /// The chain does not lead to a trusted root, or was not valid at `signedDate`.
    case chain
    /// A certificate of the chain was revoked.
    case revoked
    /// The revocation status of the chain is currently unknown.
    case revocationUnknown = "revocation-unknown"
    /// Genuine, but for an app that is not configured.
    case appNotConfigured = "app-not-configured"
    /// Genuine, but for an environment that is not configured for the app.
    case environmentNotConfigured = "environment-not-configured"
    /// The outer token is genuine, but an inner token names another app, environment or subscription.
    case innerMismatch = "inner-mismatch"
    /// The outer token is genuine, but an inner token is not.
    case innerForged = "inner-forged"
    /// The outer token is genuine, and the only fault of an inner token is its chain. A change at Apple would look like
    /// this.
    case innerChain = "inner-chain"
    /// A version 1 body without a shared secret, or with one that is not configured.
    case wrongSecret = "wrong-secret"
  }

  /// The consequence of a refusal.
  package enum Response: Sendable, Hashable {
    /// The body is not a notification (HTTP 400).
    case malformed
    /// The body is not from its alleged sender (HTTP 401).
    case unauthorized
    /// The body may be admitted later: after a retry, or after a change of the configuration (HTTP 503).
    case retryLater
  }

  /// The reason.
  package var reason: Reason
  /// The consequence.
  package var response: Response
  /// A sentence for the log, without payloads or secrets.
  package var message: String
  /// Whether the body could be genuine, so that an operator may want to see it.
  package var isWorthKeeping: Bool
  /// The bytes to keep, without any shared secret; nil if there are none.
  package var evidence: [UInt8]?
  /// Version 1: the bundle ids of the configured apps whose shared secret the body had; empty if it had none. The kept
  /// bytes no longer contain the secret, so a later check relies on this.
  package var secretOf: [String] = []

  /// Creates a refusal.
  package init(_ reason: Reason, _ response: Response, _ message: String, isWorthKeeping: Bool = false) {
    self.reason = reason
    self.response = response
    self.message = message
    self.isWorthKeeping = isWorthKeeping
  }

  /// Returns the refusal with the body's bytes, if they are worth keeping, and the apps whose secret it had.
  func keeping(_ bytes: [UInt8], secretOf: [String] = []) -> Refusal {
    var refusal = self
    if isWorthKeeping { refusal.evidence = bytes }
    refusal.secretOf = secretOf
    return refusal
  }

  /// The reason and the message.
  package var description: String { "\(reason.rawValue): \(message)" }
}

extension Refusal {
  /// Creates a refusal of signed data that failed verification.
  ///
  /// A change at Apple must not lose notifications. A body whose only fault is its chain is therefore kept and answered
  /// so that Apple sends it again. The same applies to a genuine body for an app or environment that is not configured.
  /// - Parameter unverifiable: The answer to such bodies (`ingress.unverifiable`).
  init(_ error: VerificationError, unverifiable: IngressSettings.Unverifiable) {
    let later: Response = unverifiable == .retry ? .retryLater : .unauthorized
    switch error.reason {
    case .format, .certificate:
      self.init(.malformed, .malformed, error.message)
    case .algorithm:
      self.init(.algorithm, .unauthorized, error.message)
    case .signature:
      self.init(.signature, .unauthorized, error.message)
    case .chainLength, .chain:
      self =
        error.isOnlyChainFault
        ? Refusal(.chain, later, error.message, isWorthKeeping: true)
        : Refusal(.chain, .unauthorized, error.message)
    case .revoked:
      self.init(.revoked, .unauthorized, error.message)
    case .temporary:
      self.init(.revocationUnknown, .retryLater, error.message)
    case .appIdentifier:
      self.init(.appNotConfigured, later, error.message, isWorthKeeping: true)
    case .environment:
      self.init(.environmentNotConfigured, later, error.message, isWorthKeeping: true)
    case .configuration:
      // The fault is not in the body: without readable roots no body can be verified.
      self.init(.chain, .retryLater, error.message)
    }
  }

  /// Creates a refusal of a genuine notification whose inner tokens are not valid; nil if they are.
  ///
  /// Only Apple can have signed the outer token, so the body is kept. Its effects depend on the inner tokens, so it is
  /// refused.
  init?(_ inner: InnerVerdict, unverifiable: IngressSettings.Unverifiable) {
    switch inner {
    case .vouched, .verified: return nil
    case .mismatch(let facts):
      let facts = facts.map(\.description).joined(separator: ", ")
      self.init(.innerMismatch, .unauthorized, facts, isWorthKeeping: true)
    case .forged(let forgery) where forgery.error.isOnlyChainFault && unverifiable == .retry:
      self.init(.innerChain, .retryLater, forgery.description, isWorthKeeping: true)
    case .forged(let forgery):
      self.init(.innerForged, .unauthorized, forgery.description, isWorthKeeping: true)
    }
  }
}

extension Refusal.Reason {
  /// Whether only Apple, or a client that knows a shared secret, can have created the outer body.
  var provesOutside: Bool {
    switch self {
    case .appNotConfigured, .environmentNotConfigured, .innerMismatch, .innerForged, .innerChain: true
    case .malformed, .algorithm, .signature, .chain, .revoked, .revocationUnknown, .wrongSecret: false
    }
  }
}
