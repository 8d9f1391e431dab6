// Tests the responder's refusals. The verifier's tests cover its answers.
import AppStore
import AppStoreSigning
import Testing

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
}
