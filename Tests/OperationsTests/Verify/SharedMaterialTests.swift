// Runs `millrace verify` on notifications that Apple signed, on forgeries, and on data signed by a foreign chain.

import MillraceTime
import AppStore
import MillraceWorker
import TestEnvironment
import Testing

@testable import Operations

// The material is not part of the project. Without it these tests are reported as skipped.
@Suite("verify on shared material", .enabled(if: SharedMaterial.isPresent, "../shared is absent"))
struct SharedMaterialTests {
  private func report(
    on input: [UInt8], kind: SignedDataKind, roots: [String], _ facts: JSONObject
  ) async throws -> VerifyReport {
    var request = VerifyRequest()
    request.roots = roots
    request.bundleId = facts.string("bundleId")
    request.appAppleId = facts.integer("appAppleId")
    request.environment = facts.string("environment").map { AppStoreEnvironment(rawValue: $0) }
    return await Verification(
      verifier: try request.verifier(nil, clock: .system), identity: request.identity(nil), kind: kind
    ).report(on: input)
  }

  @Test("every vector has the expected result")
  func vectors() async throws {
    guard case .array(let vectors)? = try SharedMaterial.json("vectors/vectors.json")["vectors"] else {
      Issue.record("vectors.json holds no vectors")
      return
    }
    #expect(vectors.count >= 46)
    for case .object(let vector) in vectors {
      let id = try #require(vector.string("id"))
      let settings = try #require(vector.object("config"))
      let kind = try #require(vector.string("kind").flatMap { SignedDataKind(rawValue: $0) })
      let report = try await report(
        on: try VerifySource.read(SharedMaterial.path("vectors/\(vector.string("file") ?? "")")), kind: kind,
        roots: [SharedMaterial.path("vectors/\(settings.string("root") ?? "")")], settings)
      switch vector["expect"] {
      case .string("accept")?: #expect(report.isValid, "\(id): \(report.line.prefix(300))")
      case .object(let expectation)? where expectation["either"] != nil: break
      case .object(let expectation)?:
        #expect(!report.isValid, "\(id)")
        #expect(report.json.string("reason") == expectation.string("reject"), "\(id)")
      default: Issue.record("\(id) states no expectation")
      }
    }
  }

  @Test("every signed item of the corpus has the expected result, type, subtype, UUID and date")
  func corpus() async throws {
    var counts = [true: 0, false: 0]
    for name in try SharedMaterial.names(in: "corpus") {
      let item = try SharedMaterial.json("corpus/" + name)
      guard let jws = item.string("jws"), let expected = item.object("expected"),
        case .bool(let isValid)? = expected["valid"]
      else { continue }
      counts[isValid, default: 0] += 1
      let kind: SignedDataKind =
        switch item.string("kind") {
        case "signedTransactionInfo": .transaction
        case "signedRenewalInfo": .renewalInfo
        default: .notification
        }
      let report = try await report(on: Array(jws.utf8), kind: kind, roots: [], isValid ? expected : JSONObject())
      #expect(report.isValid == isValid, "\(name): \(report.line.prefix(300))")
      guard isValid else { continue }
      #expect(report.json.integer("signedDate") == expected.integer("signedDate"), "\(name)")
      if kind == .notification {
        #expect(report.json.string("inner") == "verified", "\(name)")
        for field in ["notificationType", "subtype", "notificationUUID"] {
          #expect(report.json.string(field) == expected.string(field), "\(name), \(field)")
        }
      }
    }
    #expect(counts[true, default: 0] >= 15 && counts[false, default: 0] >= 12)
  }
}
