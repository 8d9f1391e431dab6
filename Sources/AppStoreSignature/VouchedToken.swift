// An inner token of a notification, which the signature around it vouches for.
public import AppStore

/// How the inner tokens of a notification are checked.
public enum InnerTokenCheck: String, Sendable, Hashable, CaseIterable {
  /// The signature of the notification covers their text. They are decoded, and their claims are compared with the
  /// notification's.
  case vouched
  /// Each signature and chain is verified as well.
  case verified
}

/// An inner token inside the notification that vouches for it.
///
/// Within its notification its payload is as trustworthy as the notification: only Apple can have put this text there.
/// Outside of it, as a token of its own, it proves nothing until ``verified(by:identity:)`` has verified its signature.
public struct VouchedToken<Payload: AppStoreObject>: Sendable {
  /// The payload, as part of the notification.
  public let payload: Payload
  /// The token, which may not leave its notification unverified.
  let jws: String
}

extension VouchedToken<JWSTransactionDecodedPayload> {
  /// Verifies the token by itself, so that it may be stored or sent on without its notification.
  public func verified(
    by verifier: SignedDataVerifier, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<Payload> {
    try await verifier.verifyTransaction(jws.utf8, identity: identity)
  }
}

extension VouchedToken<JWSRenewalInfoDecodedPayload> {
  /// Verifies the token by itself, so that it may be stored or sent on without its notification.
  public func verified(
    by verifier: SignedDataVerifier, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<Payload> {
    try await verifier.verifyRenewalInfo(jws.utf8, identity: identity)
  }
}

extension VouchedToken<AppTransaction> {
  /// Verifies the token by itself, so that it may be stored or sent on without its notification.
  public func verified(
    by verifier: SignedDataVerifier, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<Payload> {
    try await verifier.verifyAppTransaction(jws.utf8, identity: identity)
  }
}
