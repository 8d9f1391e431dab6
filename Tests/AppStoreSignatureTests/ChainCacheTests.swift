// Tests the cache of chains, and that it cannot be influenced without Apple's key.
import AppStore
import AppStoreSignature
@testable import AppStoreSigning
import Testing

@Suite("Chain cache")
struct ChainCacheTests {
  private func token(_ chain: SigningChain, seed: UInt64 = 1) throws -> [UInt8] {
    var samples = SampleNotifications(chain: chain, seed: seed)
    return try samples.next(SampleKind(.test), signedDate: testDate).jws
  }

  @Test("a chain is built once for any number of its tokens")
  func builtOnce() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    for seed in 0..<10 {
      #expect(await verifier.verdict(try token(chain, seed: UInt64(seed))) == .accepted(.verified))
    }
    #expect(verifier.chainCacheStatistics.built == 1)
  }

  @Test("with more leaves than the capacity, memory stays bounded and every token is accepted")
  func bounded() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain, capacity: 2)
    let leaves = try (0..<4).map { _ in
      try chain.rotatingLeaf(notBefore: testDate, notAfter: testDate + .seconds(86_400))
    }
    for leaf in leaves + leaves {
      #expect(await verifier.verdict(try token(leaf), identity: .example) == .accepted(.verified))
    }
    #expect(verifier.chainCacheStatistics.chains == 2)
    #expect(verifier.chainCacheStatistics.headers == 2)
    let seen = verifier.provenLeaves
    #expect(Set(seen.map(\.fingerprint)).count == 2)
    #expect(seen.allSatisfy { $0.fingerprint.utf8.count == 64 && $0.notAfter <= testDate + .milliseconds(86_400_999) })
  }

  @Test("the third entry of x5c adds no chain, and headers stay bounded")
  func thirdEntry() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    let payload = Array(
      #"{"notificationType":"TEST","data":{"environment":"Sandbox"},"signedDate":\#(testDate.millisecondsSince1970)}"#
        .utf8)
    for index in 0..<20 {
      let header = chain.header(x5c: [chain.leafDER, chain.intermediateDER, [UInt8(index)]])
      #expect(await verifier.verdict(try chain.sign(payload, header: header)) == .accepted(.verified))
    }
    let statistics = verifier.chainCacheStatistics
    #expect(statistics.chains == 1)
    #expect(statistics.built == 1)
    #expect(statistics.headers <= 8)
  }

  @Test("forged chains are not cached and evict nothing")
  func forgedChains() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain, capacity: 1)
    #expect(await verifier.verdict(try token(chain)) == .accepted(.verified))
    for _ in 0..<5 {
      let forged = try token(SigningChain.generate(at: testDate))
      #expect(await verifier.verdict(forged).error?.reason == .chain)
    }
    let before = verifier.chainCacheStatistics
    #expect(before.chains == 1)
    #expect(before.headers == 1)
    #expect(await verifier.verdict(try token(chain, seed: 2)) == .accepted(.verified))
    #expect(verifier.chainCacheStatistics == before)
  }

  @Test("after a bad signature no chain is built, regardless of the certificates")
  func badSignature() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    for _ in 0..<5 {
      var forged = try token(SigningChain.generate(at: testDate))
      // All bits of the fourth character from the end count. The last character has unused bits.
      let index = forged.count - 4
      forged[index] = forged[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      #expect(await verifier.verdict(forged).error?.reason == .signature)
    }
    #expect(verifier.chainCacheStatistics == ChainCacheStatistics(chains: 0, headers: 0, built: 0))
  }

  @Test("a genuine chain is cached only with a token within its dates")
  func outOfDate() async throws {
    let chain = try SigningChain.generate(notBefore: testDate + .seconds(60), notAfter: testDate + .seconds(120))
    let verifier = try SignedDataVerifier.trusting(chain)
    #expect(await verifier.verdict(try token(chain)).error?.reason == .chain)
    #expect(verifier.chainCacheStatistics.chains == 0)
  }

  @Test("a new leaf of Apple needs no change here, and the old one remains valid for its dates")
  func rotation() async throws {
    let old = try SigningChain.generate(notBefore: testDate, notAfter: testDate + .seconds(100))
    let new = try old.rotatingLeaf(notBefore: testDate + .seconds(80), notAfter: testDate + .seconds(200))
    let verifier = try SignedDataVerifier.trusting(old)
    let expectations: [(SigningChain, Int64, Bool)] = [
      (old, 50, true), (old, 90, true), (old, 150, false), (new, 50, false), (new, 90, true), (new, 150, true),
      (old, 60, true),
    ]
    for (chain, second, isAccepted) in expectations {
      var samples = SampleNotifications(chain: chain, seed: 3)
      let token = try samples.next(SampleKind(.didRenew), signedDate: testDate + .seconds(second)).jws
      let verdict = await verifier.verdict(token, identity: .example)
      #expect((verdict == .accepted(.verified)) == isAccepted, "second \(second): \(verdict)")
    }
  }
}
