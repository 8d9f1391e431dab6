// The verifier that the ingress, the workers and the command line use.
public import AppStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Verifies what the App Store signs: notifications, transactions, renewal info, app transactions.
///
/// Follows Apple's *JWSDecodedHeader* page and RFC 7515, in this order: three segments, `ES256`, no `crit`, three
/// certificates, the leaf's signature, JSON, the chain to a trusted root with Apple's markers at the signing date,
/// revocation when asked for, then bundle, app id and environment. Nothing expensive happens before the signature
/// holds, and nothing waits for a network unless revocation is checked.
///
/// One value serves all tasks: proven chains are shared, and no lock is held while cryptography runs.
public struct SignedDataVerifier: Sendable {
  /// How a verifier is set up.
  public struct Configuration: Sendable {
    /// Roots to trust, in DER. By default Apple Root CA - G3 alone.
    public var trustedRoots: [[UInt8]] = [AppleRootCertificate.g3]
    /// How many proven chains are remembered, at least one. Apple uses one leaf at a time and a new one every two years.
    public var chainCacheCapacity = 32
    /// Asked after signature and chain held; nil, the default, asks nobody.
    public var revocation: (any RevocationChecking)?
    /// The present, for data without a signing date.
    public var now: @Sendable () -> Timestamp = SignedDataVerifier.systemTime

    /// Apple's root, no revocation checks, the system's clock.
    public init() {}
  }

  private let tokens: TokenVerifier

  /// Sets up a verifier.
  ///
  /// - Throws: ``VerificationError/Reason/configuration`` when a root is no certificate or there is none.
  public init(_ configuration: Configuration = Configuration()) throws(VerificationError) {
    tokens = TokenVerifier(
      builder: try ChainBuilder(trustedRoots: configuration.trustedRoots),
      cache: ChainCache(capacity: configuration.chainCacheCapacity),
      revocation: configuration.revocation,
      now: configuration.now)
  }

  /// Verifies a version 2 notification, inner tokens included.
  ///
  /// - Parameters:
  ///   - jws: the compact JWS, the value of `signedPayload`. Contiguous collections (arrays, buffers' views, `utf8` of a
  ///     native string) are read in place; the caller limits their size.
  ///   - identity: for whom it may be.
  /// - Throws: why the outer token is not believed, or ``VerificationError/Reason/temporary`` for any of them.
  public func verifyNotification(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> VerifiedNotification {
    try await tokens.verifyNotification(jws, identity: identity)
  }

  /// Verifies a notification's outer token and leaves the inner ones alone.
  public func verifyNotificationOuter(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<ResponseBodyV2DecodedPayload> {
    try await tokens.verify(ResponseBodyV2DecodedPayload.self, jws, identity: identity)
  }

  /// Verifies a signed transaction. It names no app id, so none is judged.
  public func verifyTransaction(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<JWSTransactionDecodedPayload> {
    try await tokens.verify(JWSTransactionDecodedPayload.self, jws, identity: identity)
  }

  /// Verifies signed renewal info. It names neither bundle nor app id, so only the environment is judged.
  public func verifyRenewalInfo(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<JWSRenewalInfoDecodedPayload> {
    try await tokens.verify(JWSRenewalInfoDecodedPayload.self, jws, identity: identity)
  }

  /// Verifies a signed app transaction; its `receiptType` is the environment, its `receiptCreationDate` the signing date.
  public func verifyAppTransaction(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<AppTransaction> {
    try await tokens.verify(AppTransaction.self, jws, identity: identity)
  }

  /// The half of verification that never waits, for fuzzing without a scheduler: everything up to the signature of the
  /// token's own leaf. Says nothing of whether that leaf is Apple's.
  package func examine(_ jws: some Collection<UInt8>) throws(VerificationError) {
    _ = try tokens.examine(jws)
  }

  /// How full the memory of proven chains is.
  public var chainCacheStatistics: ChainCacheStatistics { tokens.cache.statistics }

  /// The leaves whose chains are remembered, newest first. Only what a trusted root vouches for is among them, and no
  /// more than the memory of chains holds: nobody outside can make entries.
  public var provenLeaves: [SigningLeaf] { tokens.cache.proven.map(\.signingLeaf) }

  /// The system's clock, to the millisecond.
  public static let systemTime: @Sendable () -> Timestamp = {
    Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }
}
