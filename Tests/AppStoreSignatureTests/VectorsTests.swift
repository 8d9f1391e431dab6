// Verifies signed data under a foreign chain with its expected results. The refusal reasons are recommendations.
import AppStore
import AppStoreSignature
import TestEnvironment
import Testing

@Suite("Vectors", .enabled(if: SharedMaterial.isPresent, "../shared is absent"))
struct VectorsTests {
  @Test("every vector is accepted or refused as expected, with the recommended reason")
  func everyVector() async throws {
    let document = try SharedMaterial.json("vectors/vectors.json")
    guard case .array(let vectors)? = document["vectors"] else {
      Issue.record("vectors.json is empty")
      return
    }
    var mismatches: [String] = []
    for case .object(let vector) in vectors {
      let id = try #require(vector.string("id"))
      let found = try await verdict(vector, .verified)
      if !matches(found, vector["expect"], id: id) {
        mismatches.append("\(id): expected \(vector["expect"].map { "\($0)" } ?? "nothing"), \(found)")
      }
    }
    #expect(vectors.count >= 46)
    #expect(mismatches.isEmpty, "\(mismatches.joined(separator: "\n"))")
  }

  /// The vectors whose outer token is genuine and whose inner token is not: none. ``VouchedTokenTests`` has such tokens.
  private static let forgedInside: Set<String> = []

  @Test("with vouched inner tokens only the vectors with a genuine outer and a forged inner token differ")
  func vouched() async throws {
    let document = try SharedMaterial.json("vectors/vectors.json")
    guard case .array(let vectors)? = document["vectors"] else {
      Issue.record("vectors.json is empty")
      return
    }
    var differing: Set<String> = []
    for case .object(let vector) in vectors {
      let (verified, vouched) = (try await verdict(vector, .verified), try await verdict(vector, .vouched))
      let isSame = verified == vouched || (verified == .accepted(.verified) && vouched == .accepted(.vouched))
      if !isSame { differing.insert("\(try #require(vector.string("id")))") }
    }
    #expect(differing == Self.forgedInside)
  }

  private func matches(_ found: Verdict, _ expected: JSON?, id: String) -> Bool {
    switch (found, expected) {
    case (.accepted(let inner), .string("accept")?):
      id == "nested-transaction-other-bundle" ? inner.name == "mismatch" : inner == .verified
    case (.refused(let error), .object(let expectation)?):
      expectation["either"] != nil || expectation.string("reject") == error.reason.rawValue
    case (.accepted, .object(let expectation)?):
      expectation["either"] != nil
    default:
      false
    }
  }

  private func verdict(_ vector: JSONObject, _ innerTokens: InnerTokenCheck) async throws -> Verdict {
    let settings = try #require(vector.object("config"))
    var configuration = SignedDataVerifier.Configuration()
    configuration.trustedRoots = [
      try SharedMaterial.bytes("vectors/\(settings.string("root") ?? "")")
    ]
    configuration.now = { testDate }
    configuration.innerTokens = innerTokens
    let verifier = try SignedDataVerifier(configuration)
    let environment = AppStoreEnvironment(rawValue: try #require(settings.string("environment")))
    let identity = IdentityPolicy([
      AppIdentity(
        bundleId: try #require(settings.string("bundleId")), appAppleId: settings.integer("appAppleId"),
        environments: [environment])
    ])
    let jws = try SharedMaterial.bytes("vectors/\(vector.string("file") ?? "")")
    do {
      switch vector.string("kind") {
      case "notification": return .accepted(try await verifier.verifyNotification(jws, identity: identity).inner)
      case "transaction": _ = try await verifier.verifyTransaction(jws, identity: identity)
      case "renewalInfo": _ = try await verifier.verifyRenewalInfo(jws, identity: identity)
      case "appTransaction": _ = try await verifier.verifyAppTransaction(jws, identity: identity)
      default: Issue.record("unknown kind \(vector.string("kind") ?? "none")")
      }
      return .accepted(.verified)
    } catch {
      return .refused(error)
    }
  }
}
