// The limits of a chain's validity window.
import AppStore
@testable import AppStoreSignature
import AppStoreSigning
import SwiftASN1
import Testing
import X509

@Suite("Validity window")
struct ValidityWindowTests {
  @Test("a window includes both ends and nothing beyond")
  func edges() {
    let begin = Timestamp(millisecondsSince1970: 1_000)
    let end = Timestamp(millisecondsSince1970: 2_999)
    let window = ValidityWindow(notBefore: begin, notAfter: end)
    for (milliseconds, isInside) in [(999, false), (1_000, true), (2_999, true), (3_000, false)] {
      #expect(window.contains(Timestamp(millisecondsSince1970: Int64(milliseconds))) == isInside)
    }
  }

  @Test("the window of a chain is the intersection of its certificates, to the end of the last second")
  func intersection() throws {
    let chain = try SigningChain.generate(notBefore: testDate, notAfter: testDate + .seconds(60))
    let certificates = try [chain.leafDER, chain.intermediateDER, chain.rootDER].map {
      try Certificate(derEncoded: $0)
    }
    let window = ValidityWindow(of: certificates)
    #expect(window.notBefore == testDate)
    #expect(window.notAfter == testDate + .milliseconds(60_999))
  }

  @Test(
    "a token is checked at its signedDate, to the millisecond, on first sight and on a cached chain",
    arguments: [(-1, false), (0, true), (60_999, true), (61_000, false)])
  func tokensAtTheEdges(offset: Int, isAccepted: Bool) async throws {
    let chain = try SigningChain.generate(notBefore: testDate, notAfter: testDate + .seconds(60))
    let fresh = try SignedDataVerifier.trusting(chain)
    let warm = try SignedDataVerifier.trusting(chain)
    var samples = SampleNotifications(chain: chain, seed: 5)
    _ = await warm.verdict(try samples.next(SampleKind(.test), signedDate: testDate).jws)
    let token = try samples.next(SampleKind(.test), signedDate: testDate + .milliseconds(offset)).jws
    for verifier in [fresh, warm] {
      let verdict = await verifier.verdict(token, identity: .example)
      #expect((verdict == .accepted(.verified)) == isAccepted)
      if let error = verdict.error {
        #expect(error.reason == .chain)
        #expect(error.isOnlyChainFault)
      }
    }
  }
}
