// The conformance suite: passes on an endpoint that follows the protocol, and names the fault of each broken one.

import AppStore
import AppStoreServerAPI
import AppStoreSigning
import Crypto
import Foundation
import MillraceCore
import MillraceRecords
import MillraceTime
import MillraceWorker
import Synchronization
import TestEnvironment
import TestSupport
import Testing

@testable import HTTPWorkers
@testable import Operations

/// An endpoint that follows the protocol, except for one fault.
final class ModelEndpoint: HTTPExchange {
  enum Fault: Sendable, CaseIterable {
    case acceptsWithoutSignature, ignoresSignature, ignoresBody, ignoresTime, knowsOneSignature, isRandom
    case addsMembers, isSilent, isHuge, failsTimers, refusesUnknownTypes, crashesOnGarbage, redirects, sendsHTML
    /// No fault: a language whose objects have no order.
    case reordersMembers
    case failsVersionOne, failsFailedCalls, failsStates, refusesWith400, givesUpTimers, givesUpRenewals
  }

  static let secret = Array("secret".utf8)

  private let fault: Fault?
  private let count = Mutex(0)

  init(_ fault: Fault? = nil) { self.fault = fault }

  private static func answer(_ status: Int, _ json: JSON? = nil) -> ExchangeAnswer {
    ExchangeAnswer(
      status: status, headers: json == nil ? [:] : ["content-type": "application/json"], body: json?.serialized() ?? [])
  }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer {
    let number = count.withLock { count in
      count += 1
      return count
    }
    switch fault {
    case .isSilent: throw TransportFailure("nothing came back", .unclear)
    case .isHuge:
      return ExchangeAnswer(status: 200, headers: [:], body: [], isComplete: false, isCutOff: true)
    case .redirects: return Self.answer(301)
    case .sendsHTML: return ExchangeAnswer(status: 200, headers: ["content-type": "text/html"], body: Array("<p>".utf8))
    default: break
    }
    guard isSigned(request) else { return Self.answer(fault == .refusesWith400 ? 400 : 401) }
    let json: JSONObject
    do { json = try JSONObject(parsing: request.body ?? []) } catch {
      return Self.answer(fault == .crashesOnGarbage ? 500 : 400)
    }
    guard case .object(let data)? = json["data"] else { return Self.answer(422) }
    let answer = decide(data, number)
    guard request.headers["millrace-dry-run"] != nil else { return answer }
    let confirmed = APIHeaders(answer.headers.fields + [.init(name: "millrace-dry-run", value: "1")])
    return ExchangeAnswer(status: answer.status, headers: confirmed, body: answer.body)
  }

  private func decide(_ data: JSONObject, _ number: Int) -> ExchangeAnswer {
    var notification: JSONObject = [:]
    if case .object(let object)? = data["notification"] { notification = object }
    if fault == .failsTimers, data["kind"] == "timer" { return Self.answer(500) }
    if fault == .failsVersionOne, notification["version"] == 1 { return Self.answer(500) }
    if fault == .failsFailedCalls, case .object(let call)? = data["call"], case .object(let result)? = call["result"],
      result["status"] == "failed"
    {
      return Self.answer(503)
    }
    if fault == .refusesUnknownTypes, notification["type"] == "MILLRACE_CHECK" { return Self.answer(422) }
    if fault == .givesUpTimers, data["kind"] == "timer" {
      return Self.answer(200, ["deadLetter": ["reason": "no-timers"]])
    }
    if fault == .givesUpRenewals, notification["type"] == "DID_RENEW", notification["subtype"] != nil {
      return Self.answer(422)
    }
    if fault == .failsStates, data["state"] != .null { return Self.answer(500) }
    guard notification["type"] == "EXPIRED" else { return Self.answer(204) }
    var outcome: JSONObject = [
      "events": [["name": "left", "data": ["id": notification["id"] ?? .null]]], "state": ["left": true],
    ]
    if fault == .isRandom { outcome["state"] = .integer(Int64(number)) }
    if fault == .addsMembers { outcome["status"] = "ok" }
    if fault == .reordersMembers, data["attempt"] == 2 { outcome.members.reverse() }
    return Self.answer(200, .object(outcome))
  }

  private func isSigned(_ request: ExchangeRequest) -> Bool {
    if fault == .ignoresSignature { return true }
    guard let given = request.headers["webhook-signature"] else { return fault == .acceptsWithoutSignature }
    let (id, time) = (request.headers["webhook-id"] ?? "", request.headers["webhook-timestamp"] ?? "")
    let age = MillraceClock.system.wallTime.millisecondsSince1970 / 1_000 - (Int64(time) ?? 0)
    if abs(age) > 300, fault != .ignoresTime { return false }
    if fault == .ignoresBody { return given.split(separator: " ").contains { !$0.hasPrefix("v1,AAAA") } }
    let code = HMAC<SHA256>.authenticationCode(
      for: Array("\(id).\(time).".utf8) + (request.body ?? []), using: SymmetricKey(data: Self.secret))
    let valid = "v1," + String(decoding: Base64.encodeStandard(Array(code)), as: UTF8.self)
    let signatures = given.split(separator: " ").map(String.init)
    return fault == .knowsOneSignature ? signatures.first == valid : signatures.contains(valid)
  }
}

@Suite(.timeLimit(.minutes(5))) struct HandlerCheckTests {
  private static func check(_ fault: ModelEndpoint.Fault?) async throws -> [HandlerFinding] {
    let endpoint = Endpoint(
      url: "http://endpoint/", payload: .decoded, timeout: .seconds(5),
      signature: try WebhookSignature(secrets: [ModelEndpoint.secret], of: "secret"), exchange: ModelEndpoint(fault))
    let samples = try HandlerSamples(worker: "check", payload: .decoded, now: MillraceClock.system.wallTime)
    let reported = Mutex<[HandlerFinding]>([])
    // Time does not pass, so that a slow machine is no slow endpoint.
    let clock = ManualClock(start: MillraceClock.system.wallTime).clock
    var check = HandlerCheck(endpoint, samples, clock: clock) { finding in reported.withLock { $0.append(finding) } }
    let findings = try await check.run()
    #expect(findings == reported.withLock { $0 })
    #expect(findings.map(\.check) == HandlerFinding.Check.allCases)
    return findings
  }

  @Test func `an endpoint that follows the protocol passes`() async throws {
    let findings = try await Self.check(nil)
    for finding in findings { #expect(finding.severity == .good && finding.remedy == nil, "\(finding.what)") }
    #expect(findings.status == .success)
  }

  @Test func `the order of members is no other outcome`() async throws {
    let findings = try await Self.check(.reordersMembers)
    #expect(findings.allSatisfy { $0.severity == .good })
  }

  @Test(
    arguments: [
      (.acceptsWithoutSignature, [.signatureMissing]),
      (.ignoresSignature, [.signatureMissing, .signatureWrong, .signatureBody, .signatureOld]),
      (.ignoresBody, [.signatureBody]), (.ignoresTime, [.signatureOld]), (.knowsOneSignature, [.signatureRotated]),
      (.isRandom, [.idempotence, .dryRun]), (.addsMembers, [.answer, .signatureRotated, .types]),
      (.isSilent, [.answer]),
      (.failsTimers, [.timer]), (.refusesUnknownTypes, [.unknown]), (.crashesOnGarbage, [.malformed]),
      (.refusesWith400, [.signatureMissing, .signatureWrong, .signatureBody, .signatureOld]),
      (.failsVersionOne, [.versionOne]), (.failsFailedCalls, [.callResult]), (.failsStates, [.state]),
    ] as [(ModelEndpoint.Fault, Set<HandlerFinding.Check>)])
  func `each fault has its findings`(
    fault: ModelEndpoint.Fault, expected: Set<HandlerFinding.Check>
  ) async throws {
    let findings = try await Self.check(fault)
    let failed = findings.filter { $0.severity == .failure }
    #expect(Set(failed.map(\.check)) == expected)
    #expect(failed.allSatisfy { $0.remedy != nil } && findings.status == .failure)
    if fault == .isSilent { #expect(findings.dropFirst().allSatisfy { $0.severity == .skipped }) }
  }

  @Test(
    arguments: [(.givesUpTimers, .timer), (.givesUpRenewals, .types)] as [(ModelEndpoint.Fault, HandlerFinding.Check)])
  func `an endpoint that gives up is warned about dead letters`(
    fault: ModelEndpoint.Fault, check: HandlerFinding.Check
  ) async throws {
    let findings = try await Self.check(fault)
    let warnings = findings.filter { $0.severity == .warning }
    #expect(warnings.map(\.check) == [check] && warnings.allSatisfy { $0.remedy != nil })
    #expect(findings.status == .success)
  }

  @Test func `the families of samples are those of the topic files`() throws {
    let topics = try TopicCatalog.load(directory: Project.path("topics"), prefix: "", lanes: 1)
      .topics
    for (family, types) in NotificationFamily.types {
      let routed = topics.first { $0.name == family.topic }?.notifications.v2 ?? []
      #expect(Set(routed) == types, "\(family)")
    }
  }

  @Test(arguments: [ModelEndpoint.Fault.isHuge, .redirects, .sendsHTML])
  func `an endpoint that never answers as the protocol says fails almost everything`(
    fault: ModelEndpoint.Fault
  ) async throws {
    let findings = try await Self.check(fault)
    let failed = Set(findings.filter { $0.severity == .failure }.map(\.check))
    #expect(failed.isSuperset(of: [.answer, .types, .timer, .callResult, .unknown]), "\(failed)")
  }

  @Test(arguments: [HandlerSettings.Payload.full, .decoded, .minimal])
  func `its requests fit the published schema`(payload: HandlerSettings.Payload) async throws {
    let schema = try SchemaCheck(protocolFile: "request")
    let now = MillraceClock.system.wallTime
    var samples = try HandlerSamples(worker: "check", payload: payload, now: now)
    let requests = [
      try await samples.notification(.init(.expired, .voluntary)), try await samples.notification(.init(.test)),
      samples.versionOne(), samples.timer(), samples.callResult(isSuccess: true), samples.callResult(isSuccess: false),
    ]
    for request in requests {
      #expect(schema.problems(try JSON(parsing: request.body(deadline: now))).isEmpty)
    }
  }

  @Test func `a finding is a line for people and an object for scripts`() {
    let finding = HandlerFinding(.timer, .failure, "a timer: answered 500", remedy: "read the endpoint's log")
    #expect(
      finding.lines == ["FAILED   timer             a timer: answered 500", "         do: read the endpoint's log"])
    #expect(
      finding.jsonLine
        == #"{"check":"timer","result":"failure","what":"a timer: answered 500","do":"read the endpoint's log"}"#)
  }

  @Test(
    arguments: [
      ("a.b[3]@12", true), ("a[0]@0", true), ("a@1", false), ("a[1]", false), ("[1]@2", false), ("a[-1]@2", false),
      ("a[1]@-2", false), ("a[x]@2", false), ("", false), ("a[1]@2@3", false),
    ])
  func `the place of a record is topic[partition]@offset`(text: String, isPlace: Bool) {
    #expect((RecordPlace(text) != nil) == isPlace)
  }
}
