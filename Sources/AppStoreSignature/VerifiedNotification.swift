// A verified version 2 notification: the outer payload, the inner payloads and the verdict about them.
public import AppStore

/// A notification whose outer token Apple signed for an accepted app.
///
/// This does not cover its inner tokens: check ``inner`` before you use any of them.
public struct VerifiedNotification: Sendable {
  /// The outer payload.
  public let payload: ResponseBodyV2DecodedPayload
  /// The verdict about the inner tokens.
  public let inner: InnerVerdict
  /// The transaction; nil if there is none or it is not genuine.
  public let transaction: VouchedToken<JWSTransactionDecodedPayload>?
  /// The renewal info; nil if there is none or it is not genuine.
  public let renewalInfo: VouchedToken<JWSRenewalInfoDecodedPayload>?
  /// The app transaction; nil if there is none or it is not genuine.
  public let appTransaction: VouchedToken<AppTransaction>?
  /// The chain that signed the outer token.
  public let chain: CertificateChain

  /// SHA-256 of the outer token's leaf in hexadecimal, for alerts about a new leaf.
  public var leafFingerprint: String { chain.leafFingerprint }
}
