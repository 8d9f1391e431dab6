// A key for callers, made on the spot, and the secret of version 1: a rehearsal must not need App Store Connect, nor
// anything real.

internal import Crypto

extension Scenario {
  /// `iss` and `kid` of a key that was made here.
  public static let madeKey = (issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "SIMULATOR1")

  /// Makes a key and lets it call the API of every app that has none.
  ///
  /// - Returns: the private key in PEM, for the callers' configuration.
  public mutating func addMadeKey() -> String {
    let key = P256.Signing.PrivateKey()
    for index in apps.indices where apps[index].credentials.isEmpty {
      apps[index].credentials = [
        APICredentials(
          issuerId: Self.madeKey.issuerId, keyId: Self.madeKey.keyId,
          publicKeyPEM: key.publicKey.pemRepresentation)
      ]
    }
    return key.pemRepresentation
  }

  /// Gives the shared secret to every app that has none; version 1 bodies carry it.
  public mutating func share(_ secret: String) {
    for index in apps.indices where apps[index].sharedSecret == nil { apps[index].sharedSecret = secret }
  }
}
