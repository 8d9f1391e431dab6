// Tests the responder's refusals. The verifier's tests cover its answers.
import AppStore
import Crypto
import Testing

@testable import AppStoreSigning

@Suite("OCSP responder")
struct OCSPResponderTests {
  @Test(
    "data that is not an OCSP request is refused with an error",
    arguments: [[], [0x30, 0x00], [0x30, 0x02, 0x30, 0x00], [0xFF, 0x01], Array("GET / HTTP/1.1".utf8)] as [[UInt8]])
  func garbage(request: [UInt8]) throws {
    let date = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    let responder = OCSPResponder(chain: try SigningChain.generate(at: date))
    #expect(throws: SigningError.self) {
      try responder.respond(to: request, thisUpdate: date, nextUpdate: date + .seconds(60))
    }
  }

  @Test func `a request may name the issuer by a SHA-1 or a SHA-256 hash of its key`() throws {
    let date = Timestamp(millisecondsSince1970: 1_767_225_600_000)
    let chain = try SigningChain.generate(at: date)
    let key = chain.intermediate.key.publicKey.x963Representation
    func node(_ tag: UInt8, _ content: [UInt8]...) -> [UInt8] {
      [tag, UInt8(content.joined().count)] + content.joined()
    }
    func respond(_ hash: [UInt8]) throws -> [UInt8] {
      // An OCSPRequest of RFC 6960 with one CertID: an algorithm, two hashes and a serial number.
      let identifier = node(0x30, node(0x30), node(0x04), node(0x04, hash), node(0x02, [1]))
      return try OCSPResponder(chain: chain).respond(
        to: node(0x30, node(0x30, node(0x30, node(0x30, identifier)))), thisUpdate: date,
        nextUpdate: date + .seconds(60))
    }
    #expect(try !respond(Array(Insecure.SHA1.hash(data: key))).isEmpty)
    #expect(try !respond(Array(SHA256.hash(data: key))).isEmpty)
    #expect(throws: SigningError.self) { try respond(Array(SHA512.hash(data: key))) }
  }
}
