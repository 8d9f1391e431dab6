// Decoding tokens without verification.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Testing

@Suite("Unverified token")
struct UnverifiedTokenTests {
  @Test("header and payload of a token are readable, regardless of the signer")
  func reading() throws {
    let chain = try SigningChain.generate(at: testDate)
    let token = try UnverifiedToken(parsing: chain.sign(Array(#"{"a":1}"#.utf8)))
    #expect(token.header["alg"] == .string("ES256"))
    #expect(token.payload["a"] == .integer(1))
  }

  @Test(
    "data that is not a token is an error",
    arguments: ["", ".", "..", "a.b", "e30.e30", "e30.e30.e30.e30", "e30=.e30.", "W10.e30.", "e30.W10.", "e30.e30.!"])
  func garbage(text: String) {
    #expect(throws: VerificationError.self) { try UnverifiedToken(parsing: text.utf8) }
  }

  @Test("an empty signature is not checked")
  func emptySignature() throws {
    #expect(try UnverifiedToken(parsing: "e30.e30.".utf8).payload == JSONObject())
  }
}
