// Generates an API key for callers and sets the version 1 shared secret. A rehearsal needs neither App Store Connect
// nor real credentials.

internal import Crypto

extension Scenario {
  /// `iss` and `kid` of the generated key.
  package static let madeKey = (issuerId: "57246542-96fe-1a63-e053-0824d011072a", keyId: "SIMULATOR1")

  /// Generates a key and lets it call the API of every app that has no key.
  public mutating func addMadeKey() -> String {
    let key = P256.Signing.PrivateKey()
    for index in apps.indices where apps[index].credentials.isEmpty {
      apps[index].credentials = [
        PublicAPIKey(
          issuerId: Self.madeKey.issuerId, keyId: Self.madeKey.keyId,
          publicKeyPEM: key.publicKey.pemRepresentation)
      ]
    }
    return key.pemRepresentation
  }

  /// Sets the shared secret of every app that has none. Version 1 bodies carry it.
  public mutating func share(_ secret: String) {
    for index in apps.indices where apps[index].sharedSecret == nil { apps[index].sharedSecret = secret }
  }
}
