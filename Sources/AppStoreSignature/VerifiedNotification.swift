// A version 2 notification after verification: the outer payload, the inner ones, and the verdict about those.
public import AppStore

/// A notification whose outer token Apple signed for an expected app.
///
/// That says nothing of its inner tokens: read ``inner`` before acting on any of them.
public struct VerifiedNotification: Sendable {
  /// The outer payload.
  public let payload: ResponseBodyV2DecodedPayload
  /// What the inner tokens turned out to be.
  public let inner: InnerVerdict
  /// The transaction, when there is one and it is genuine.
  public let transaction: JWSTransactionDecodedPayload?
  /// The renewal info, when there is one and it is genuine.
  public let renewalInfo: JWSRenewalInfoDecodedPayload?
  /// The app transaction, when there is one and it is genuine.
  public let appTransaction: AppTransaction?
  /// The chain that signed the outer token.
  public let chain: CertificateChain

  /// SHA-256 of the outer token's leaf in hexadecimal, so that a leaf never seen before can raise an alert.
  public var leafFingerprint: String { chain.leafFingerprint }
}
