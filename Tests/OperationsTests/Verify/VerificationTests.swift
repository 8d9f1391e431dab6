import MillraceTime
import AppStore
import AppStoreSignature
import AppStoreSigning
import Foundation
import MillraceCore
import TestEnvironment
import Testing

@testable import Operations

@Suite("Verification")
struct VerificationTests {
  private let fixture: Fixture

  init() throws { fixture = try Fixture() }

  private func report(
    on input: [UInt8], kind: SignedDataKind = .notification, _ change: (inout VerifyRequest) -> Void = { _ in }
  ) async throws -> VerifyReport {
    var request = VerifyRequest()
    request.roots = [fixture.rootPath]
    request.kind = kind
    change(&request)
    return await Verification(
      verifier: try request.verifier(nil, clock: .system), identity: request.identity(nil), kind: kind
    ).report(on: input)
  }

  @Test("a genuine notification shows its payload and its inner tokens")
  func genuine() async throws {
    let sample = try fixture.sample(.didRenew)
    for input in [sample.jws, sample.body, sample.body + [UInt8(ascii: "\n")]] {
      let report = try await report(on: input)
      #expect(report.status == .success)
      #expect(report.json.members.prefix(2).map(\.key) == ["valid", "inner"])
      #expect(report.json["valid"] == true)
      #expect(report.json.string("inner") == "verified")
      #expect(report.json.string("notificationType") == "DID_RENEW")
      #expect(report.json.string("notificationUUID") == sample.notificationUUID)
      #expect(report.json.object("transaction")?.string("originalTransactionId") == sample.orderingKey)
      #expect(report.json.object("renewalInfo") != nil)
      #expect(!report.line.contains("\n"))
      #expect(try JSONObject(parsing: Array(report.line.utf8)) == report.json)
    }
  }

  @Test("every kind of token is verified as the kind it claims to be")
  func kinds() async throws {
    let sample = try fixture.sample(.didRenew)
    let data = try ResponseBodyV2DecodedPayload(json: UnverifiedToken(parsing: sample.jws).payload).data
    let transaction = Array(try #require(data?.signedTransactionInfo).utf8)
    let renewalInfo = Array(try #require(data?.signedRenewalInfo).utf8)
    #expect(try await report(on: transaction, kind: .transaction).json.string("productId") != nil)
    #expect(try await report(on: renewalInfo, kind: .renewalInfo).json.string("autoRenewProductId") != nil)
    #expect(try await report(on: renewalInfo, kind: .renewalInfo).json["inner"] == nil)
  }

  @Test("every forgery is refused with its reason, or reported as an inner forgery")
  func forgeries() async throws {
    let forgeries = try Forgeries(chain: fixture.chain, app: fixture.app, signedDate: Fixture.signedDate, seed: 7).all()
    #expect(!forgeries.isEmpty)
    for forgery in forgeries {
      let report = try await report(on: forgery.jws) { request in
        request.bundleId = fixture.app.bundleId
        request.appAppleId = fixture.app.appAppleId
        request.environment = fixture.app.environment
      }
      let comment = Comment(rawValue: "\(forgery.label): \(report.json.string("message") ?? "")")
      switch forgery.expectation {
      case .refused(let reason):
        #expect(!report.isValid && report.status == .failure, comment)
        #expect(report.json.members.map(\.key) == ["valid", "reason", "message"], comment)
        #expect(report.json.string("reason") == reason, comment)
      case .innerMismatch:
        #expect(report.isValid && report.json.string("inner") == "mismatch", comment)
        #expect(report.json.string("innerMessage") != nil, comment)
      case .innerForged:
        #expect(report.isValid && report.json.string("inner") == "forged", comment)
      }
    }
  }

  @Test("a payload cannot override the report's own members")
  func ownMembersWin() async throws {
    let payload: JSONObject = [
      "valid": false, "inner": "forged", "innerMessage": "x", "transaction": "y", "notificationType": "TEST",
      "notificationUUID": "1", "signedDate": .integer(Fixture.signedDate.millisecondsSince1970),
      "data": ["bundleId": "com.example.app", "environment": "Sandbox"],
    ]
    let report = try await report(on: try fixture.chain.sign(payload.serialized()))
    #expect(report.isValid, "\(report.line)")
    #expect(report.json.members.filter { $0.key == "valid" }.map(\.value) == [true])
    #expect(report.json.string("inner") == "verified")
    #expect(report.json["innerMessage"] == nil)
  }

  @Test("the reason distinguishes another root, another app and another environment")
  func refusals() async throws {
    let sample = try fixture.sample(.test)
    let reasons = [
      try await report(on: sample.jws) { $0.roots = [] }.json.string("reason"),
      try await report(on: sample.jws) { $0.bundleId = "com.example.other" }.json.string("reason"),
      try await report(on: sample.jws) { $0.environment = .sandbox }.json.string("reason"),
      try await report(on: Array("no token".utf8)).json.string("reason"),
    ]
    #expect(reasons == ["chain", "app-identifier", "environment", "format"])
  }

  @Test("a token of another kind is refused by its name, and so is one of Xcode")
  func otherKinds() async throws {
    let date = JSON.integer(Fixture.signedDate.millisecondsSince1970)
    let app: [JSONObject.Member] = [
      .init(key: "bundleId", value: "com.example.app"), .init(key: "environment", value: "Production"),
      .init(key: "signedDate", value: date),
    ]
    let payloads: [SignedDataKind: JSONObject] = [
      .notification: [
        "notificationType": "TEST", "notificationUUID": "1", "signedDate": date, "data": .object(JSONObject(app)),
      ],
      .transaction: JSONObject(app + [.init(key: "transactionId", value: "1")]),
      .renewalInfo: [
        "autoRenewStatus": 1, "originalTransactionId": "1", "environment": "Production", "signedDate": date,
      ],
      .appTransaction: JSONObject(
        [.init(key: "receiptType", value: "Production"), .init(key: "originalApplicationVersion", value: "1.0")] + app),
    ]
    for (found, payload) in payloads {
      for kind in SignedDataKind.allCases where kind != found {
        let report = try await report(on: try fixture.chain.sign(payload.serialized()), kind: kind)
        #expect(!report.isValid && report.json.string("reason") == "format", "\(found) as \(kind)")
        #expect(
          report.json.string("message") == "the token is \(found.name), not \(kind.name); use --kind \(found.rawValue)")
      }
      var local = payload
      local["environment"] = "Xcode"
      let report = try await report(on: try fixture.chain.sign(local.serialized()), kind: .transaction)
      #expect(!report.isValid && report.json.string("reason") == "environment", "\(report.line)")
      #expect(report.json.string("message")?.contains("of Xcode's StoreKit testing") == true)
    }
  }

  @Test("flags take precedence over the configuration, and without both any identity is accepted")
  func identity() {
    let configuration = fixture.configuration()
    var request = VerifyRequest()
    #expect(request.identity(nil) == .any)
    #expect(request.identity(configuration) != .any)
    #expect(request.identity(MillraceConfiguration()) == .any)
    request.bundleId = "com.example.other"
    #expect(request.identity(configuration) == IdentityPolicy(bundleId: "com.example.other"))
  }

  @Test("only the configuration enables revocation checks, also with --root")
  func revocation() async throws {
    let now = SignedDataVerifier.systemTime()
    var responder = OCSPResponder(chain: fixture.chain)
    responder.leaf = .revoked(at: Fixture.signedDate + .seconds(60))
    let transport = Responder(responder: responder, thisUpdate: now + .seconds(-60), nextUpdate: now + .seconds(3600))
    var configuration = fixture.configuration()
    let token = try fixture.sample(.test).jws
    func reason(_ request: VerifyRequest, _ configuration: MillraceConfiguration?) async throws -> String? {
      let verifier = try request.verifier(configuration, clock: .system, transport: transport)
      return await Verification(verifier: verifier, identity: .any, kind: .notification).report(on: token)
        .json.string("reason")
    }
    var withRoot = VerifyRequest()
    withRoot.roots = [fixture.rootPath]
    #expect(try await reason(withRoot, nil) == nil)
    #expect(try await reason(VerifyRequest(), configuration) == nil)
    configuration.trust.revocation.enabled = true
    // Long enough for a busy machine.
    configuration.trust.revocation.timeout = .seconds(300)
    #expect(try await reason(VerifyRequest(), configuration) == "revoked")
    #expect(try await reason(withRoot, configuration) == "revoked")
  }

  private struct Responder: OCSPTransport {
    var responder: OCSPResponder
    var thisUpdate: Timestamp
    var nextUpdate: Timestamp

    func query(_ request: [UInt8], url: String) async throws -> [UInt8] {
      try responder.respond(to: request, thisUpdate: thisUpdate, nextUpdate: nextUpdate)
    }
  }

  @Test("environments are spelled as Apple spells them", arguments: ["production", "SANDBOX", "Xcode", ""])
  func environment(name: String) throws {
    func request(_ environment: String?) throws(OperationError) -> VerifyRequest {
      try VerifyRequest(
        roots: [], bundleId: nil, appAppleId: nil, environment: environment, kind: .notification)
    }
    let error = try #require(throws: OperationError.self) { try request(name) }
    #expect(error.kind == .usage && error.place == "--environment")
    #expect(error.remedy == "use one of Production, Sandbox")
    #expect(try request("Production").environment == .production && request("Sandbox").environment == .sandbox)
    #expect(try request(nil).environment == nil)
  }

  @Test("an invalid root certificate is an error of --root", arguments: ["no certificate", "0 looks like DER"])
  func badRoot(content: String) throws {
    let path = fixture.directory.appendingPathComponent("root.txt").path
    try Data(content.utf8).write(to: URL(fileURLWithPath: path))
    var request = VerifyRequest()
    request.roots = [path]
    let error = try #require(throws: OperationError.self) { _ = try request.verifier(nil, clock: .system) }
    #expect(error.kind == .usage)
    #expect(error.place == "--root")
    #expect(error.what.contains(path) && !error.what.contains("trust.roots"), "\(error)")
  }

  @Test("a missing file is an error of the command line")
  func missingFile() throws {
    let error = try #require(throws: OperationError.self) { try VerifySource.read("/nonexistent/token.jws") }
    #expect(error.kind == .usage)
    #expect(error.place == "/nonexistent/token.jws")
  }
}
