// A notification and its inner tokens.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Testing

@Suite("Notification verifier")
struct NotificationVerifierTests {
  private func forgery(_ label: String, _ chain: SigningChain) throws -> Forgery {
    let forgeries = try Forgeries(chain: chain, signedDate: testDate, seed: 9).all()
    return try #require(forgeries.first { $0.label == label })
  }

  @Test("a mismatch of an inner token names field and values, and the tokens stay readable")
  func mismatch() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    let found = try await verifier.verifyNotification(
      forgery("inner-of-another-app", chain).jws, identity: .example)
    #expect(
      found.inner
        == .mismatch([
          InnerMismatch(
            token: .transaction, field: "bundleId", expected: "com.example.app", found: "com.example.app.other")
        ]))
    #expect(found.transaction?.payload.bundleId == "com.example.app.other")
    #expect(found.renewalInfo != nil)
  }

  @Test("a forged inner token is reported with its error and not returned")
  func forged() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    let found = try await verifier.verifyNotification(forgery("inner-tampered", chain).jws, identity: .example)
    guard case .forged(let forgery) = found.inner else {
      Issue.record("\(found.inner)")
      return
    }
    #expect(forgery.token == .transaction)
    #expect(forgery.error.reason == .signature)
    #expect(found.transaction == nil)
    #expect(found.renewalInfo != nil)
  }

  @Test("an inner token with an untrusted chain is forged, and only its chain is at fault")
  func innerChain() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    let found = try await verifier.verifyNotification(forgery("inner-by-stranger", chain).jws, identity: .example)
    guard case .forged(let forgery) = found.inner else {
      Issue.record("\(found.inner)")
      return
    }
    #expect(forgery.error.reason == .chain)
    #expect(forgery.error.isOnlyChainFault)
  }

  @Test(
    "an inner token that is not a string is forged, and null counts as absent",
    arguments: [("1", "forged"), ("{}", "forged"), ("\"\"", "forged"), ("null", "verified")])
  func oddInnerToken(value: String, expected: String) async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    let payload = """
      {"notificationType":"TEST","data":{"bundleId":"com.example.app","environment":"Sandbox","signedTransactionInfo":\(value)},\
      "signedDate":\(testDate.millisecondsSince1970)}
      """
    let found = try await verifier.verifyNotification(chain.sign(Array(payload.utf8)), identity: .any)
    #expect(found.inner.name == expected)
  }

  @Test("the outer token can be verified on its own, regardless of inner tokens")
  func outerOnly() async throws {
    let chain = try SigningChain.generate(at: testDate)
    let verifier = try SignedDataVerifier.trusting(chain)
    let token = try forgery("inner-tampered", chain).jws
    let found = try await verifier.verifyNotificationOuter(token, identity: .example)
    #expect(found.payload.notificationType == .didRenew)
  }

  @Test("inner tokens are verified at their own dates, with their own leaves")
  func innerLeaf() async throws {
    let old = try SigningChain.generate(notBefore: testDate + .seconds(-1_000), notAfter: testDate + .seconds(-1))
    let new = try old.rotatingLeaf(notBefore: testDate, notAfter: testDate + .seconds(1_000))
    let verifier = try SignedDataVerifier.trusting(old)
    let transaction = try old.sign(
      Array(#"{"bundleId":"com.example.app","signedDate":\#(testDate.millisecondsSince1970 - 5_000)}"#.utf8))
    let payload = """
      {"notificationType":"TEST","data":{"bundleId":"com.example.app","environment":"Sandbox",\
      "signedTransactionInfo":"\(String(decoding: transaction, as: UTF8.self))"},\
      "signedDate":\(testDate.millisecondsSince1970)}
      """
    let found = try await verifier.verifyNotification(new.sign(Array(payload.utf8)), identity: .any)
    #expect(found.inner == .verified)
  }
}
