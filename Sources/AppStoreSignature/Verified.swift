// The result of verification: a payload and the chain that signed it.
public import AppStore

/// A payload that Apple signed for an accepted app.
public struct Verified<Payload: AppStoreObject>: Sendable {
  /// The payload, with every member as signed.
  public let payload: Payload
  /// The chain that signed it.
  public let chain: CertificateChain

  /// SHA-256 of the leaf in hexadecimal, for alerts about a new leaf.
  public var leafFingerprint: String { chain.leafFingerprint }
}
