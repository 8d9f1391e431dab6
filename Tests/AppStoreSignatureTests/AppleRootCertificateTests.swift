import AppStoreSignature
import Crypto
import Testing

@Suite("Apple root certificate")
struct AppleRootCertificateTests {
  @Test("the bundled root has the fingerprint that Apple publishes")
  func fingerprint() {
    let chain = CertificateChain(leaf: AppleRootCertificate.g3, intermediate: [], root: [])
    #expect(chain.leafFingerprint == "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179")
  }

  @Test("a verifier trusts it by default, and a verifier without a readable root is refused")
  func configuration() throws {
    _ = try SignedDataVerifier()
    for roots in [[], [[]], [[0x30, 0x00]], [AppleRootCertificate.g3, [1, 2, 3]]] as [[[UInt8]]] {
      var configuration = SignedDataVerifier.Configuration()
      configuration.trustedRoots = roots
      #expect { try SignedDataVerifier(configuration) } throws: { error in
        (error as? VerificationError)?.reason == .configuration
      }
    }
  }
}
