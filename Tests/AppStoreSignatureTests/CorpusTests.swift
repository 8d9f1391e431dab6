// Verifies data that Apple signed, under Apple's real root, and data that others signed.
import AppStore
import AppStoreSignature
import TestEnvironment
import Testing

@Suite("Corpus", .enabled(if: SharedMaterial.isPresent, "../shared is absent"))
struct CorpusTests {
  private func items(valid: Bool) throws -> [(id: String, kind: String, jws: [UInt8], expected: JSONObject)] {
    try SharedMaterial.names(in: "corpus").compactMap { name in
      let item = try SharedMaterial.json("corpus/" + name)
      guard let jws = item.string("jws"), let expected = item.object("expected"), expected["valid"] == .bool(valid)
      else {
        return nil
      }
      return (try #require(item.string("id")), try #require(item.string("kind")), Array(jws.utf8), expected)
    }
  }

  private func identity(_ expected: JSONObject) throws -> IdentityPolicy {
    let environment = AppStoreEnvironment(rawValue: try #require(expected.string("environment")))
    return IdentityPolicy(
      bundleId: expected.string("bundleId"), appAppleId: expected.integer("appAppleId"), environments: [environment])
  }

  @Test(
    "everything that Apple signed is accepted with the stated type, subtype, UUID and dates",
    arguments: InnerTokenCheck.allCases)
  func genuine(innerTokens: InnerTokenCheck) async throws {
    var configuration = SignedDataVerifier.Configuration()
    configuration.innerTokens = innerTokens
    let verifier = try SignedDataVerifier(configuration)
    let items = try items(valid: true)
    #expect(items.count >= 15)
    for (id, kind, jws, expected) in items {
      let comment = Comment(rawValue: id)
      let identity = try identity(expected)
      switch kind {
      case "signedPayload":
        let found = try await verifier.verifyNotification(jws, identity: identity)
        let hasInner = found.transaction != nil || found.renewalInfo != nil || found.appTransaction != nil
        #expect(found.inner == (hasInner && innerTokens == .vouched ? .vouched : .verified), comment)
        #expect(found.payload.notificationType?.rawValue == expected.string("notificationType"), comment)
        #expect(found.payload.subtype?.rawValue == expected.string("subtype"), comment)
        #expect(found.payload.notificationUUID == expected.string("notificationUUID"), comment)
        #expect(found.payload.signedDate?.millisecondsSince1970 == expected.integer("signedDate"), comment)
        #expect(found.payload.bundleId == expected.string("bundleId"), comment)
        #expect(found.payload.oddFields.isEmpty, comment)
        #expect(found.leafFingerprint == expected.object("leaf")?.string("sha256"), comment)
        try compare(
          found.transaction?.payload.json, expected.object("nested")?.object("signedTransactionInfo"), comment)
        try compare(found.renewalInfo?.payload.json, expected.object("nested")?.object("signedRenewalInfo"), comment)
      case "signedTransactionInfo":
        let found = try await verifier.verifyTransaction(jws, identity: identity)
        #expect(found.payload.signedDate?.millisecondsSince1970 == expected.integer("signedDate"), comment)
        try compare(found.payload.json, expected, comment)
      case "signedRenewalInfo":
        let found = try await verifier.verifyRenewalInfo(jws, identity: identity)
        #expect(found.payload.signedDate?.millisecondsSince1970 == expected.integer("signedDate"), comment)
        try compare(found.payload.json, expected, comment)
      default:
        Issue.record("\(id) has an unknown kind, \(kind)")
      }
    }
  }

  /// Checks that every field in the corpus has the given value.
  private func compare(_ payload: JSONObject?, _ expected: JSONObject?, _ comment: Comment) throws {
    guard let fields = expected?.object("fields") else {
      #expect(expected == nil || payload != nil, comment)
      return
    }
    let payload = try #require(payload, comment)
    for member in fields.members {
      #expect(payload[member.key] == member.value, "\(comment), \(member.key)")
    }
  }

  @Test("nothing that Apple did not sign is accepted under any policy")
  func forged() async throws {
    let verifier = try SignedDataVerifier()
    let items = try items(valid: false)
    #expect(items.count >= 12)
    for (id, _, jws, _) in items {
      let comment = Comment(rawValue: id)
      await #expect(throws: VerificationError.self, comment) {
        try await verifier.verifyNotification(jws, identity: .any)
      }
      await #expect(throws: VerificationError.self, comment) {
        try await verifier.verifyTransaction(jws, identity: .any)
      }
      await #expect(throws: VerificationError.self, comment) {
        try await verifier.verifyRenewalInfo(jws, identity: .any)
      }
      await #expect(throws: VerificationError.self, comment) {
        try await verifier.verifyAppTransaction(jws, identity: .any)
      }
    }
  }

  @Test("old leaves are valid for data of their time, for three generations")
  func judgedAtSignedDate() async throws {
    var configuration = SignedDataVerifier.Configuration()
    configuration.now = { Timestamp(millisecondsSince1970: 4_102_444_800_000) }
    let verifier = try SignedDataVerifier(configuration)
    for (id, kind, jws, expected) in try items(valid: true) where kind == "signedPayload" {
      let found = try await verifier.verifyNotification(jws, identity: try identity(expected))
      #expect(found.inner == .vouched || found.inner == .verified, "\(id)")
    }
  }
}
