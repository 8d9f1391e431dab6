// Why a posted body was not admitted, and what follows from it. A table without I/O, so that it can be read and tested
// as one.

internal import AppStoreSignature

/// A posted body that was not admitted.
public struct Refusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was wrong. Raw values are stable: metrics count by them and `millrace.quarantine` carries them.
  public enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Not a notification at all: JSON, JWS segments, base64url, certificates that are none.
    case malformed
    /// Signed with another algorithm than ES256, or not signed.
    case algorithm
    /// The signature is not by the leaf that came along.
    case signature
    /// Signed, but by a chain that does not lead to a trusted root, or did not hold at `signedDate`.
    case chain
    /// Signed under a certificate that was revoked.
    case revoked
    /// Whether the chain was revoked could not be found out now.
    case revocationUnknown = "revocation-unknown"
    /// Genuine, for an app that is not configured.
    case appNotConfigured = "app-not-configured"
    /// Genuine, for an environment in which the app is not configured.
    case environmentNotConfigured = "environment-not-configured"
    /// Genuine outside; a token inside names another app, environment or subscription.
    case innerMismatch = "inner-mismatch"
    /// Genuine outside; a token inside is not.
    case innerForged = "inner-forged"
    /// Genuine outside; a token inside is sound but for its chain: so would a change at Apple look.
    case innerChain = "inner-chain"
    /// A version 1 body without a shared secret, or with none that is configured.
    case wrongSecret = "wrong-secret"
  }

  /// What follows.
  public enum Consequence: Sendable, Hashable {
    /// It is no notification (HTTP 400).
    case malformed
    /// It is not by whom it says (HTTP 401).
    case unauthorized
    /// It may be admitted later: after a retry, or once somebody changed the configuration (HTTP 503).
    case retryLater
  }

  /// What was wrong.
  public var reason: Reason
  /// What follows.
  public var consequence: Consequence
  /// A sentence for the log. Quotes no payload and no secret.
  public var message: String
  /// True where an operator may want to see the body: it could be genuine.
  public var isWorthKeeping: Bool
  /// The bytes to keep, without any shared secret; nil where there is nothing worth keeping.
  public var evidence: [UInt8]?
  /// Version 1: the bundle ids of the configured apps whose shared secret came with the body; empty where none did. The
  /// evidence has lost the secret, so this is what is left to judge it by later.
  public var secretOf: [String] = []

  /// Makes a refusal.
  public init(_ reason: Reason, _ consequence: Consequence, _ message: String, isWorthKeeping: Bool = false) {
    self.reason = reason
    self.consequence = consequence
    self.message = message
    self.isWorthKeeping = isWorthKeeping
  }

  /// The same refusal with the bytes it is about, where they are worth keeping, and whose secret came with them.
  func keeping(_ bytes: [UInt8], secretOf: [String] = []) -> Refusal {
    var refusal = self
    if isWorthKeeping { refusal.evidence = bytes }
    refusal.secretOf = secretOf
    return refusal
  }

  /// Reason and sentence.
  public var description: String { "\(reason.rawValue): \(message)" }
}

extension Refusal {
  /// What follows from signed data that was not believed.
  ///
  /// A change at Apple must not become loss: a body that is sound but for its chain, and a genuine one for an app or
  /// environment that is not configured, are worth keeping and are answered so that Apple sends them again.
  /// - Parameter unverifiable: what the operator chose for such bodies (`ingress.unverifiable`).
  init(_ error: VerificationError, unverifiable: IngressSettings.Unverifiable) {
    let later: Consequence = unverifiable == .retry ? .retryLater : .unauthorized
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
      // Nothing about the body: until the roots are readable nothing can be judged.
      self.init(.chain, .retryLater, error.message)
    }
  }

  /// What follows from a genuine notification whose inner tokens do not belong to it; nil where they do.
  ///
  /// Only Apple can have signed the outside, so the body is kept; what it would cause rests on the inside, so it is
  /// refused.
  init?(_ inner: InnerVerdict, unverifiable: IngressSettings.Unverifiable) {
    switch inner {
    case .verified: return nil
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
