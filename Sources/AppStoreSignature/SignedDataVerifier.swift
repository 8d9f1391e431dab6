// The verifier that the ingress, the workers and the command line use.
public import AppStore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Verifies data that the App Store signs: notifications, transactions, renewal info and app transactions.
///
/// It follows Apple's *JWSDecodedHeader* page and RFC 7515 and checks, in this order:
///
/// 1. three segments, `ES256`, no `crit`, three certificates
/// 2. the leaf's signature
/// 3. JSON
/// 4. the chain to a trusted root with Apple's markers, at the signing date
/// 5. revocation, if configured
/// 6. bundle, app ID and environment
///
/// No expensive operation runs before the signature check, and nothing waits for a network unless revocation is
/// checked.
///
/// All tasks can share one value. It caches verified chains and holds no lock during cryptography.
public struct SignedDataVerifier: Sendable {
  /// The configuration of a verifier.
  public struct Configuration: Sendable {
    /// The trusted roots, in DER. The default is Apple Root CA - G3 alone.
    public var trustedRoots: [[UInt8]] = [AppleRootCertificate.g3]
    /// The number of verified chains to cache; at least one. Apple uses one leaf at a time and a new one every two
    /// years.
    public var chainCacheCapacity = 32
    /// Checks revocation after the signature and chain were verified. The default, nil, skips the check.
    public var revocation: (any RevocationChecking)?
    /// How the inner tokens of notifications are checked.
    public var innerTokens = InnerTokenCheck.vouched
    /// The current time, for data without a signing date.
    public var now: @Sendable () -> Timestamp = SignedDataVerifier.systemTime

    /// Apple's root, no revocation checks, and the system clock.
    public init() {}
  }

  private let tokens: TokenVerifier

  /// Creates a verifier.
  ///
  /// - Throws: ``VerificationError/Reason/configuration`` if there is no root or a root is not a certificate.
  public init(_ configuration: Configuration = Configuration()) throws(VerificationError) {
    tokens = TokenVerifier(
      builder: try ChainBuilder(trustedRoots: configuration.trustedRoots),
      cache: ChainCache(capacity: configuration.chainCacheCapacity),
      revocation: configuration.revocation,
      now: configuration.now, innerTokens: configuration.innerTokens)
  }

  /// Verifies a version 2 notification, and its inner tokens as ``Configuration/innerTokens`` says.
  ///
  /// - Parameters:
  ///   - jws: the compact JWS, the value of `signedPayload`. Contiguous collections (arrays, views of buffers, `utf8`
  ///     of a native
  ///     string) are read in place. The caller limits their size.
  ///   - identity: the accepted apps and environments.
  /// - Throws: the fault of the outer token, or ``VerificationError/Reason/temporary`` for any token.
  public func verifyNotification(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> VerifiedNotification {
    try await tokens.verifyNotification(jws, identity: identity)
  }

  /// Verifies a notification's outer token only.
  public func verifyNotificationOuter(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<ResponseBodyV2DecodedPayload> {
    try await tokens.verify(ResponseBodyV2DecodedPayload.self, jws, identity: identity)
  }

  /// Verifies a signed transaction. It has no app ID, so that is not checked.
  public func verifyTransaction(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<JWSTransactionDecodedPayload> {
    try await tokens.verify(JWSTransactionDecodedPayload.self, jws, identity: identity)
  }

  /// Verifies signed renewal info. It has neither bundle nor app ID, so only the environment is checked.
  public func verifyRenewalInfo(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<JWSRenewalInfoDecodedPayload> {
    try await tokens.verify(JWSRenewalInfoDecodedPayload.self, jws, identity: identity)
  }

  /// Verifies a signed app transaction. Its `receiptType` is the environment, its `receiptCreationDate` the signing
  /// date.
  public func verifyAppTransaction(
    _ jws: some Collection<UInt8>, identity: IdentityPolicy
  ) async throws(VerificationError) -> Verified<AppTransaction> {
    try await tokens.verify(AppTransaction.self, jws, identity: identity)
  }

  /// The size of the cache of verified chains.
  public var chainCacheStatistics: ChainCacheStatistics { tokens.cache.statistics }

  /// The leaves of the cached chains, newest first. Only leaves under a trusted root are cached, and their number is
  /// bounded, so outsiders cannot add entries.
  public var provenLeaves: [SigningLeaf] { tokens.cache.proven.map(\.signingLeaf) }

  /// The system clock, in milliseconds.
  public static let systemTime: @Sendable () -> Timestamp = {
    Timestamp(millisecondsSince1970: Int64((Date().timeIntervalSince1970 * 1000).rounded(.down)))
  }
}
