// Tests the verifier through its public API. It accepts genuine data, refuses every forgery with its reason, and
// detects any changed bit.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Testing

@Suite("Signed data verifier")
struct SignedDataVerifierTests {
  private let seed: UInt64 = 0xA11CE

  @Test("a genuine notification of every type is accepted, inner tokens included")
  func everyType() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    for environment in [AppStoreEnvironment.production, .sandbox] {
      var samples = SampleNotifications(chain: chain, app: SampleApp(environment: environment), seed: seed)
      let policy = IdentityPolicy([
        AppIdentity(bundleId: "com.example.app", appAppleId: 1_234_567_890, environments: [environment])
      ])
      for sample in try samples.everyKind(from: testDate) {
        let found = try await verifier.verifyNotification(sample.jws, identity: policy)
        #expect(found.inner == .verified, "\(sample.kind), seed \(seed)")
        #expect(found.payload.notificationUUID == sample.notificationUUID)
        #expect(
          found.leafFingerprint == CertificateChain(leaf: chain.leafDER, intermediate: [], root: []).leafFingerprint)
      }
    }
    #expect(verifier.chainCacheStatistics == ChainCacheStatistics(chains: 1, headers: 1, built: 1))
  }

  @Test("every forgery is refused with its reason, and distinguished from a changed chain", arguments: [false, true])
  func forgeries(warm: Bool) async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    if warm {
      var samples = SampleNotifications(chain: chain, seed: seed)
      #expect(
        await verifier.verdict(try samples.next(SampleKind(.test), signedDate: testDate).jws) == .accepted(.verified))
    }
    var mismatches: [String] = []
    for forgery in try Forgeries(chain: chain, signedDate: testDate, seed: seed).all() {
      let found = await verifier.verdict(forgery.jws, identity: .example)
      if !found.matches(forgery) { mismatches.append("\(forgery): expected \(forgery.expectation), \(found)") }
    }
    #expect(mismatches.isEmpty, "seed \(seed)\n\(mismatches.joined(separator: "\n"))")
  }

  @Test("of the refused data, only data for another app or environment counts as genuine")
  func genuine() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    for forgery in try Forgeries(chain: chain, signedDate: testDate, seed: seed).all() {
      guard let error = await verifier.verdict(forgery.jws, identity: .example).error else { continue }
      let isForeign = [.refused("app-identifier"), .refused("environment")].contains(forgery.expectation)
      #expect(error.isGenuine == isForeign, "\(forgery)")
      #expect(!error.isTemporary, "\(forgery)")
    }
  }

  @Test("data for another app with a foreign chain has two faults, so not only its chain is wrong")
  func twoFaults() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let stranger = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    var samples = SampleNotifications(chain: stranger, app: SampleApp(bundleId: "com.other"), seed: seed)
    let error = await verifier.verdict(
      try samples.next(SampleKind(.test), signedDate: testDate).jws, identity: .example
    ).error
    #expect(error?.reason == .chain)
    #expect(error?.isOnlyChainFault == false)
  }

  @Test("a token with any flipped bit is refused", arguments: [false, true])
  func bitFlips(warm: Bool) async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    var samples = SampleNotifications(chain: chain, seed: seed)
    let token = try samples.next(SampleKind(.test), signedDate: testDate).jws
    if warm { #expect(await verifier.verdict(token) == .accepted(.verified)) }
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<300 {
      let index = Int.random(in: token.indices, using: &generator)
      let bit = UInt8(1) << UInt8.random(in: 0..<8, using: &generator)
      var changed = token
      changed[index] ^= bit
      let verdict = await verifier.verdict(changed)
      #expect(verdict.error != nil, "byte \(index), bit \(bit), seed \(seed)")
    }
  }

  @Test("truncated, extended, doubled and shuffled tokens are refused without a crash")
  func mutations() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    var samples = SampleNotifications(chain: chain, seed: seed)
    let token = try samples.next(SampleKind(.test), signedDate: testDate).jws
    var generator = SeededGenerator(seed: seed)
    for round in 0..<300 {
      var changed = token
      switch round % 5 {
      case 0: changed.removeSubrange(Int.random(in: changed.indices, using: &generator)...)
      case 1:
        changed.insert(
          UInt8.random(in: 0...255, using: &generator), at: Int.random(in: changed.indices, using: &generator))
      case 2: changed.remove(at: Int.random(in: changed.indices, using: &generator))
      case 3: changed += changed
      default:
        let start = Int.random(in: changed.indices, using: &generator)
        changed[start...].reverse()
      }
      guard changed != token else { continue }
      #expect(await verifier.verdict(changed).error != nil, "round \(round), seed \(seed)")
    }
  }

  @Test("slices, lazy collections and text are read like arrays")
  func collections() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    var samples = SampleNotifications(chain: chain, seed: seed)
    let token = try samples.next(SampleKind(.didRenew), signedDate: testDate).jws
    let padded = [0] + token + [0]
    #expect(try await verifier.verifyNotification(padded[1..<(padded.count - 1)], identity: .any).inner == .verified)
    #expect(try await verifier.verifyNotification(token.lazy.map { $0 }, identity: .any).inner == .verified)
    let text = String(decoding: token, as: UTF8.self)
    #expect(try await verifier.verifyNotification(text.utf8, identity: .any).inner == .verified)
  }

  @Test("without a signing date the current time counts")
  func missingDate() async throws {
    let chain = try SigningChain.generate(notBefore: testDate, notAfter: testDate + .seconds(60))
    let payload = #"{"notificationType":"TEST","data":{"bundleId":"com.example.app","environment":"Sandbox"}}"#
    let token = try chain.sign(Array(payload.utf8))
    let inside = try SignedDataVerifier.trusting(chain, now: testDate + .seconds(30))
    let outside = try SignedDataVerifier.trusting(chain, now: testDate + .seconds(90))
    #expect(await inside.verdict(token) == .accepted(.verified))
    #expect(await outside.verdict(token).error?.reason == .chain)
  }

  @Test(
    "an extreme signing date is an error of the chain, not a crash", arguments: [Int64.min, -1, 0, .max])
  func absurdDates(date: Int64) async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    let payload = #"{"notificationType":"TEST","data":{"environment":"Sandbox"},"signedDate":\#(date)}"#
    let token = try chain.sign(Array(payload.utf8))
    #expect(await verifier.verdict(token).error?.reason == .chain)
  }

  @Test("data that was valid when signed is accepted decades later")
  func longAfterwards() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain, now: testDate + .seconds(40 * 365 * 86_400))
    var samples = SampleNotifications(chain: chain, seed: seed)
    let token = try samples.next(SampleKind(.didRenew), signedDate: testDate).jws
    #expect(await verifier.verdict(token, identity: .example) == .accepted(.verified))
  }

  @Test("transactions, renewal info and app transactions are verified on their own")
  func singleTokens() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    var samples = SampleNotifications(chain: chain, seed: seed)
    let renewal = try await verifier.verifyNotification(
      samples.next(SampleKind(.didRenew), signedDate: testDate).jws, identity: .example)
    let consent = try await verifier.verifyNotification(
      samples.next(SampleKind(.rescindConsent), signedDate: testDate).jws, identity: .example)
    let transaction = Array(try #require(renewal.payload.data?.signedTransactionInfo).utf8)
    let renewalInfo = Array(try #require(renewal.payload.data?.signedRenewalInfo).utf8)
    let appTransaction = Array(try #require(consent.payload.appData?.signedAppTransactionInfo).utf8)
    #expect(
      try await verifier.verifyTransaction(transaction, identity: .example).payload == renewal.transaction?.payload)
    #expect(
      try await verifier.verifyRenewalInfo(renewalInfo, identity: .example).payload == renewal.renewalInfo?.payload)
    #expect(
      try await verifier.verifyAppTransaction(appTransaction, identity: .example).payload
        == consent.appTransaction?.payload)

    let elsewhere = IdentityPolicy([AppIdentity(bundleId: "com.other", environments: [.sandbox])])
    await #expect(throws: VerificationError.self) {
      try await verifier.verifyTransaction(transaction, identity: elsewhere)
    }
    await #expect(throws: VerificationError.self) {
      try await verifier.verifyRenewalInfo(renewalInfo, identity: elsewhere)
    }
    await #expect(throws: VerificationError.self) {
      try await verifier.verifyAppTransaction(appTransaction, identity: elsewhere)
    }
  }

  @Test("concurrent tasks on one verifier agree on genuine and forged tokens")
  func concurrency() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    var samples = SampleNotifications(chain: chain, seed: seed)
    let genuine = try samples.everyKind(from: testDate).prefix(8).map(\.jws)
    let forged = try Forgeries(chain: chain, signedDate: testDate, seed: seed).all()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for token in genuine { #expect(await verifier.verdict(token, identity: .example) == .accepted(.verified)) }
          for forgery in forged {
            #expect(await verifier.verdict(forgery.jws, identity: .example).matches(forgery), "\(forgery)")
          }
        }
      }
    }
    #expect(verifier.chainCacheStatistics.chains == 1)
  }
}

extension Verdict {
  fileprivate func matches(_ forgery: Forgery) -> Bool {
    switch (self, forgery.expectation) {
    case (.refused(let error), .refused(let reason)):
      error.reason.rawValue == reason && error.isOnlyChainFault == forgery.isOnlyChainFault
    case (.accepted(.mismatch), .innerMismatch), (.accepted(.forged), .innerForged): true
    default: false
    }
  }
}
