// What a verifier hands out: a payload, and the chain that vouches for it.
public import AppStore

/// A payload that Apple signed for an expected app.
public struct Verified<Payload: AppStoreObject>: Sendable {
  /// The payload, every member as it was signed.
  public let payload: Payload
  /// The chain that signed it.
  public let chain: CertificateChain

  /// SHA-256 of the leaf in hexadecimal, so that a leaf never seen before can raise an alert.
  public var leafFingerprint: String { chain.leafFingerprint }
}
