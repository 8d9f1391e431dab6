// Revocation by OCSP: results, cache, time limit, and one request at a time.
import AppStore
import AppStoreSignature
import AppStoreSigning
import MillraceTime
import Testing

@Suite("OCSP revocation")
struct OCSPRevocationTests {
  private struct Setup {
    let chain: SigningChain
    let clock: TestClock
    let verifier: SignedDataVerifier
    let token: [UInt8]
  }

  private func setup(
    _ chain: SigningChain, _ transport: FakeResponder, limits: OCSPRevocation.Limits = OCSPRevocation.Limits(),
    sleep: @escaping @Sendable (Duration) async throws -> Void = { _ in await untilCancelled() }
  ) throws -> Setup {
    let clock = TestClock()
    let revocation = OCSPRevocation(transport: transport, limits: limits, now: { clock.now }, clock: .sleeping(sleep))
    var samples = SampleNotifications(chain: chain, seed: 4)
    return Setup(
      chain: chain, clock: clock, verifier: try SignedDataVerifier.trusting(chain, revocation: revocation),
      token: try samples.next(SampleKind(.didRenew), signedDate: testDate).jws)
  }

  @Test("a chain with good certificates is accepted, with one request each for leaf and intermediate")
  func good() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let responder = FakeResponder.answering(OCSPResponder(chain: chain))
    let setup = try setup(chain, responder)
    #expect(await setup.verifier.verdict(setup.token, identity: .example) == .accepted(.verified))
    #expect(responder.calls == 2)
    #expect(await setup.verifier.verdict(setup.token, identity: .example) == .accepted(.verified))
    #expect(responder.calls == 2)
  }

  @Test("a revoked leaf or intermediate is a permanent refusal, with swift-certificates' current text")
  func revoked() async throws {
    let chain = try SigningChain.generate(at: testDate)
    for revokesLeaf in [true, false] {
      var responder = OCSPResponder(chain: chain)
      if revokesLeaf {
        responder.leaf = .revoked(at: testDate + .seconds(-60))
      } else {
        responder.intermediate = .revoked(at: testDate + .seconds(-60))
      }
      let setup = try setup(chain, .answering(responder))
      let error = await setup.verifier.verdict(setup.token, identity: .example).error
      #expect(error?.reason == .revoked)
      #expect(error?.isOnlyChainFault == false)
    }
  }

  @Test("an outage is temporary, is cached for 30 s, and ends when the responder answers again")
  func outage() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let good = OCSPResponder(chain: chain)
    let responder = FakeResponder { request, call in
      guard call > 1 else { throw FakeResponder.Outage() }
      return try good.respond(to: request, thisUpdate: testDate, nextUpdate: testDate + .seconds(43_200))
    }
    let setup = try setup(chain, responder)
    for _ in 0..<5 {
      let error = await setup.verifier.verdict(setup.token, identity: .example).error
      #expect(error?.reason == .temporary)
      #expect(error?.isTemporary == true)
    }
    #expect(responder.calls == 1)
    setup.clock.advance(by: .milliseconds(29_999))
    #expect(await setup.verifier.verdict(setup.token, identity: .example).error?.reason == .temporary)
    #expect(responder.calls == 1)
    setup.clock.advance(by: .milliseconds(1))
    #expect(await setup.verifier.verdict(setup.token, identity: .example) == .accepted(.verified))
    #expect(responder.calls == 3)
  }

  @Test("a stale, unknown, invalid or wrongly signed status is temporary")
  func unusable() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let stranger = try SigningChain.generate(at: testDate)
    var unknowing = OCSPResponder(chain: chain)
    unknowing.leaf = .unknown
    let strange = OCSPResponder(chain: stranger)
    let foreign = try await Self.request(about: stranger)
    let responders: [(String, FakeResponder)] = [
      (
        "stale",
        .answering(
          OCSPResponder(chain: chain), thisUpdate: testDate + .seconds(-86_400), nextUpdate: testDate + .seconds(-7_200)
        )
      ),
      ("unknown", .answering(unknowing)),
      ("garbage", FakeResponder { _, _ in Array("<html>".utf8) }),
      ("empty", FakeResponder { _, _ in [] }),
      (
        "of another chain",
        FakeResponder { _, _ in
          try strange.respond(to: foreign, thisUpdate: testDate, nextUpdate: testDate + .seconds(60))
        }
      ),
    ]
    for (label, responder) in responders {
      let setup = try setup(chain, responder)
      let error = await setup.verifier.verdict(setup.token, identity: .example).error
      #expect(error?.reason == .temporary, Comment(rawValue: label))
      #expect(responder.calls == 1, Comment(rawValue: label))
    }
  }

  @Test("a responder that does not answer is given up at the time limit and not asked again at once")
  func slow() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let responder = FakeResponder { _, _ in try await FakeResponder.hang() }
    // The time limit ends as soon as the request has started, so the test does not wait in real time.
    let setup = try setup(chain, responder, sleep: { _ in await responder.firstCall() })
    for _ in 0..<2 {
      let error = await setup.verifier.verdict(setup.token, identity: .example).error
      #expect(error?.reason == .temporary)
      #expect(error?.message.contains("no response within") == true)
    }
    #expect(responder.calls == 1)
  }

  @Test("nextUpdate shortens the lifetime of an answer")
  func nextUpdate() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let responder = FakeResponder.answering(OCSPResponder(chain: chain), nextUpdate: testDate + .seconds(60))
    let setup = try setup(chain, responder)
    _ = await setup.verifier.verdict(setup.token, identity: .example)
    setup.clock.advance(by: .milliseconds(59_999))
    _ = await setup.verifier.verdict(setup.token, identity: .example)
    #expect(responder.calls == 2)
    setup.clock.advance(by: .milliseconds(1))
    _ = await setup.verifier.verdict(setup.token, identity: .example)
    #expect(responder.calls == 4)
  }

  @Test("an answer is cached for 15 minutes at most, even with a later nextUpdate")
  func answerLimit() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let responder = FakeResponder.answering(OCSPResponder(chain: chain))
    let setup = try setup(chain, responder)
    _ = await setup.verifier.verdict(setup.token, identity: .example)
    setup.clock.advance(by: .seconds(899))
    _ = await setup.verifier.verdict(setup.token, identity: .example)
    #expect(responder.calls == 2)
    setup.clock.advance(by: .seconds(1))
    _ = await setup.verifier.verdict(setup.token, identity: .example)
    #expect(responder.calls == 4)
  }

  @Test("concurrent tokens share one request")
  func oneFlight() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let responder = FakeResponder.answering(OCSPResponder(chain: chain))
    let setup = try setup(chain, responder)
    await withTaskGroup(of: Verdict.self) { group in
      for _ in 0..<16 { group.addTask { await setup.verifier.verdict(setup.token, identity: .example) } }
      for await verdict in group { #expect(verdict == .accepted(.verified)) }
    }
    #expect(responder.calls == 2)
  }

  @Test("forged tokens cause no requests")
  func forged() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let responder = FakeResponder.answering(OCSPResponder(chain: chain))
    let setup = try setup(chain, responder)
    let forgeries = try Forgeries(chain: chain, signedDate: testDate, seed: 6).all()
    for forgery in forgeries where [.refused("signature"), .refused("chain")].contains(forgery.expectation) {
      _ = await setup.verifier.verdict(forgery.jws, identity: .example)
    }
    #expect(responder.calls == 0)
  }

  @Test("a chain without a responder in its certificates counts as good")
  func withoutAddress() async throws {
    var shape = ChainShape()
    shape.ocspURL = nil
    let chain = try SigningChain.generate(at: testDate, shape: shape)
    let responder = FakeResponder { _, _ in throw FakeResponder.Outage() }
    let setup = try setup(chain, responder)
    #expect(await setup.verifier.verdict(setup.token, identity: .example) == .accepted(.verified))
    #expect(responder.calls == 0)
  }

  @Test("an inner token with an unknown status is temporary, and a revoked one is forged")
  func innerTokens() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let inner = try chain.rotatingLeaf(notBefore: testDate, notAfter: testDate + .seconds(86_400))
    let transaction = try inner.sign(
      Array(#"{"bundleId":"com.example.app","signedDate":\#(testDate.millisecondsSince1970)}"#.utf8))
    let payload = """
      {"notificationType":"TEST","data":{"bundleId":"com.example.app","environment":"Sandbox",\
      "signedTransactionInfo":"\(String(decoding: transaction, as: UTF8.self))"},\
      "signedDate":\(testDate.millisecondsSince1970)}
      """
    let token = try chain.sign(Array(payload.utf8))
    let good = OCSPResponder(chain: chain)
    var revoking = good
    revoking.leaf = .revoked(at: testDate)
    let later = revoking
    for isRevoked in [false, true] {
      // The first two requests are for the outer token's chain.
      let responder = FakeResponder { request, call in
        if call > 2 && !isRevoked { throw FakeResponder.Outage() }
        return try (call > 2 ? later : good).respond(
          to: request, thisUpdate: testDate, nextUpdate: testDate + .seconds(600))
      }
      let verdict = await (try setup(chain, responder)).verifier.verdict(token)
      switch verdict {
      case .refused(let error):
        #expect(!isRevoked)
        #expect(error.reason == .temporary)
      case .accepted(let inner):
        #expect(isRevoked)
        #expect(inner.name == "forged")
      }
    }
  }

  /// The request that a verifier sends for the leaf of `chain`.
  private static func request(about chain: SigningChain) async throws -> [UInt8] {
    let (requests, sink) = AsyncStream<[UInt8]>.makeStream()
    let transport = FakeResponder { request, _ in
      sink.yield(request)
      throw FakeResponder.Outage()
    }
    let revocation = OCSPRevocation(
      transport: transport, now: { testDate }, clock: .sleeping { _ in await untilCancelled() })
    _ = await revocation.status(
      of: CertificateChain(leaf: chain.leafDER, intermediate: chain.intermediateDER, root: chain.rootDER))
    for await request in requests { return request }
    throw FakeResponder.Outage()
  }
}

extension MillraceClock {
  /// A clock whose time stands still and whose timers end when `sleep` returns.
  fileprivate static func sleeping(_ sleep: @escaping @Sendable (Duration) async throws -> Void) -> MillraceClock {
    MillraceClock(wallTime: { testDate }, elapsed: { .zero }, sleepUntil: sleep)
  }
}
