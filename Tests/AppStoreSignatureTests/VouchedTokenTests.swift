// Inner tokens that the notification's signature vouches for.
import AppStore
import AppStoreSignature
import AppStoreSigning
import Testing

@Suite("Vouched tokens")
struct VouchedTokenTests {
  private let chain: SigningChain
  private let vouching: SignedDataVerifier
  private let verifying: SignedDataVerifier

  init() throws {
    chain = try SigningChain.generate(at: testDate)
    vouching = try SignedDataVerifier.trusting(chain, innerTokens: .vouched)
    verifying = try SignedDataVerifier.trusting(chain, innerTokens: .verified)
  }

  @Test("vouched is the default")
  func standard() { #expect(SignedDataVerifier.Configuration().innerTokens == .vouched) }

  @Test("of all forgeries, only those of a forged inner token under a genuine signature are judged differently")
  func forgeries() async throws {
    var differing: Set<String> = []
    for forgery in try Forgeries(chain: chain, signedDate: testDate, seed: 9).all() {
      let (first, second) = (
        await verifying.verdict(forgery.jws, identity: .example),
        await vouching.verdict(forgery.jws, identity: .example)
      )
      if first == .accepted(.verified), second == .accepted(.vouched) { continue }
      guard first != second else { continue }
      differing.insert(forgery.label)
      guard case .accepted(.forged) = first else {
        Issue.record("\(forgery.label): \(first), vouched: \(second)")
        continue
      }
      guard case .accepted(let inner) = second else {
        Issue.record("\(forgery.label): \(second)")
        continue
      }
      // The claims are still compared: this one names another subscription.
      #expect(inner.name == (forgery.label == "inner-tampered" ? "mismatch" : "vouched"), "\(forgery.label)")
    }
    #expect(differing == ["inner-tampered", "inner-by-stranger", "inner-renewal-by-stranger"])
  }

  @Test("a forged inner token cannot leave its notification")
  func leaving() async throws {
    let forgery = try #require(
      try Forgeries(chain: chain, signedDate: testDate, seed: 9).all().first { $0.label == "inner-tampered" })
    let found = try await vouching.verifyNotification(forgery.jws, identity: .example)
    let transaction = try #require(found.transaction)
    let error = await #expect(throws: VerificationError.self) {
      try await transaction.verified(by: vouching, identity: .example)
    }
    #expect(error?.reason == .signature)
    let renewalInfo = try #require(found.renewalInfo)
    #expect(try await renewalInfo.verified(by: vouching, identity: .example).payload == renewalInfo.payload)
  }

  @Test("a mismatch is found without verifying the inner signatures")
  func mismatch() async throws {
    let forgery = try #require(
      try Forgeries(chain: chain, signedDate: testDate, seed: 9).all().first { $0.label == "inner-of-another-app" })
    #expect(try await vouching.verifyNotification(forgery.jws, identity: .example).inner.name == "mismatch")
  }

  @Test(
    "text that is not a token is forged",
    arguments: [("1", "forged"), ("{}", "forged"), ("\"\"", "forged"), ("\"a.b.c\"", "forged"), ("null", "verified")])
  func odd(value: String, expected: String) async throws {
    let found = try await vouching.verifyNotification(notification(transaction: value), identity: .any)
    #expect(found.inner.name == expected)
  }

  /// Apple signs other things than notifications. Their signature vouches for nothing inside them.
  @Test(
    "a payload that is not certainly a notification does not vouch",
    arguments: [#""notificationUUID":"""#, #""version":"2.0""#])
  func otherPayloads(member: String) async throws {
    let stranger = try SigningChain.generate(at: testDate)
    let inner = try stranger.sign(Array(#"{"bundleId":"com.example.app"}"#.utf8))
    let text = "\"\(String(decoding: inner, as: UTF8.self))\""
    let certain = try await vouching.verifyNotification(
      notification(#""notificationUUID":"u""#, transaction: text), identity: .any)
    #expect(certain.inner == .vouched)
    let found = try await vouching.verifyNotification(notification(member, transaction: text), identity: .any)
    #expect(found.inner.name == "forged" && found.transaction == nil)
  }

  private func notification(_ member: String = #""notificationUUID":"u""#, transaction: String) throws -> [UInt8] {
    let payload = """
      {"notificationType":"TEST",\(member),"data":{"bundleId":"com.example.app","environment":"Sandbox",\
      "signedTransactionInfo":\(transaction)},"signedDate":\(testDate.millisecondsSince1970)}
      """
    return try chain.sign(Array(payload.utf8))
  }
}
