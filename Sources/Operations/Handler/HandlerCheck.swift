// The conformance suite for an endpoint: sends requests as an HTTP worker does, and some as an attacker would.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSigning
package import HTTPWorkers
internal import MillraceCore
package import MillraceTime
internal import MillraceWorker

/// Checks an endpoint. The endpoint cannot tell these requests from real ones, so run it with data that does not matter.
package struct HandlerCheck {
  private let endpoint: Endpoint
  /// Whether the endpoint has to support dry runs.
  private let hasDryRuns: Bool
  private let clock: MillraceClock
  private var samples: HandlerSamples
  private let report: (HandlerFinding) throws -> Void
  private var findings: [HandlerFinding] = []
  private var longest = Duration.zero
  /// The last state that an outcome of the endpoint stored.
  private var stored: JSON?

  /// - Parameters:
  ///   - hasDryRuns: Whether the configuration declares that the endpoint supports dry runs.
  ///   - report: Receives each finding at once.
  package init(
    _ endpoint: Endpoint, _ samples: HandlerSamples, hasDryRuns: Bool = false, clock: MillraceClock,
    report: @escaping (HandlerFinding) throws -> Void
  ) {
    self.endpoint = endpoint
    self.hasDryRuns = hasDryRuns
    self.samples = samples
    self.clock = clock
    self.report = report
  }

  /// Runs all checks.
  /// - Returns: The findings, in the order of the checks.
  package mutating func run() async throws -> [HandlerFinding] {
    let request = try await samples.notification(SampleKind(.expired, .voluntary))
    let first = try await send(request)
    try note(answered(.answer, first, about: "a notification EXPIRED/VOLUNTARY"))
    if case .failed(let failure, _) = first.answer, failure != .serverError {
      for check in HandlerFinding.Check.allCases.dropFirst() {
        try note(HandlerFinding(check, .skipped, "the endpoint cannot be reached"))
      }
      return findings
    }
    try await signatures(request)
    try await idempotence(request, first)
    try await kinds()
    try await unknown()
    try await malformed()
    try await dryRun()
    try speed()
    return findings
  }

  private mutating func note(_ finding: HandlerFinding) throws {
    findings.append(finding)
    try report(finding)
  }

  // MARK: - Requests

  private mutating func send(_ request: HandlerRequest) async throws -> EndpointReply {
    let start = clock.now
    let reply = try await endpoint.send(request, now: clock.realTime, limit: endpoint.timeout)
    longest = max(longest, start.duration(to: clock.now))
    if case .outcome(.results(let results)) = reply.answer, case .set(let state) = results.state { stored = state }
    return reply
  }

  /// Sends a request with other headers or another body.
  private func sendRaw(
    _ request: HandlerRequest, at time: Timestamp? = nil, body: [UInt8]? = nil,
    signature change: (String) -> String? = { $0 }
  ) async throws -> EndpointReply {
    let usual = endpoint.request(request, trace: nil, now: time ?? clock.realTime, limit: endpoint.timeout)
    let fields = usual.headers.fields.compactMap { field -> APIHeaders.Field? in
      guard field.name == "webhook-signature" else { return field }
      return change(field.value).map { .init(name: field.name, value: $0) }
    }
    let outgoing = ExchangeRequest(
      method: .post, url: usual.url, headers: APIHeaders(fields), body: body ?? usual.body)
    return try await endpoint.send(outgoing, key: request.key, now: clock.realTime, limit: endpoint.timeout)
  }

  // MARK: - Checks

  private mutating func signatures(_ request: HandlerRequest) async throws {
    try note(refused(.signatureMissing, try await sendRaw(request) { _ in nil }, "a request without a signature"))
    let wrong = "v1," + String(repeating: "A", count: 43) + "="
    try note(refused(.signatureWrong, try await sendRaw(request) { _ in wrong }, "a request with a wrong signature"))
    let changed = Array(#"{"data":{"kind":"none"}}"#.utf8)
    try note(
      refused(.signatureBody, try await sendRaw(request, body: changed), "a request whose body was changed"))
    let old = clock.realTime + .seconds(-3_600)
    try note(refused(.signatureOld, try await sendRaw(request, at: old), "a request that is an hour old"))
    let rotated = try await sendRaw(request) { "\(wrong) \($0)" }
    var finding = answered(.signatureRotated, rotated, about: "a request with two signatures, the second one valid")
    if finding.severity == .failure {
      finding.remedy = "accept a request if any signature in webhook-signature is valid"
    }
    try note(finding)
  }

  /// Classifies an answer to a request that the endpoint has to refuse.
  private func refused(_ check: HandlerFinding.Check, _ reply: EndpointReply, _ what: String) -> HandlerFinding {
    let status = reply.response?.status
    if let status, (400..<500).contains(status), status != 429 {
      // Other statuses mean that the endpoint gives up the record. A wrong secret would make every record a dead letter.
      guard check == .malformed || status == 401 || status == 403 else {
        return HandlerFinding(check, .failure, "refused \(what) with \(status)", remedy: "answer 401")
      }
      return HandlerFinding(check, .good, "refused \(what) with \(status)")
    }
    if case .failed(let failure, let detail) = reply.answer {
      return HandlerFinding(check, .failure, "\(failure.rawValue) after \(what): \(detail)", remedy: "answer 401")
    }
    return HandlerFinding(
      check, .failure, "accepted \(what) with \(status ?? 0)",
      remedy: check == .signatureOld
        ? "refuse a webhook-timestamp that is more than five minutes away, with 401"
        : "verify webhook-signature over `<webhook-id>.<webhook-timestamp>.<body>` and answer 401")
  }

  private mutating func idempotence(_ request: HandlerRequest, _ first: EndpointReply) async throws {
    var again = request
    again.attempt = 2
    let second = try await send(again)
    guard try Self.isSame(first, second) else {
      return try note(
        HandlerFinding(
          .idempotence, .failure, "the same webhook-id got another outcome the second time",
          remedy: "decide from the request alone, without the present time or random values"))
    }
    try note(HandlerFinding(.idempotence, .good, "a repeated request has the same outcome"))
  }

  /// Whether two replies decide the same. The order of the members of an object means nothing.
  private static func isSame(_ first: EndpointReply, _ second: EndpointReply) throws -> Bool {
    guard case .outcome = first.answer, case .outcome = second.answer else { return first.answer == second.answer }
    return try sortedBody(first) == sortedBody(second)
  }

  private static func sortedBody(_ reply: EndpointReply) throws -> JSON? {
    try reply.response.map { try JSON(parsing: $0.body).sortedByName }
  }

  private mutating func kinds() async throws {
    var findings: [HandlerFinding] = []
    for kind in SampleKind.all {
      findings.append(answered(.types, try await send(try await samples.notification(kind)), about: "\(kind)"))
    }
    try note(Self.summary(findings))
    try note(answered(.versionOne, try await send(samples.versionOne()), about: "a notification of version 1"))
    try await state()
    try note(answered(.timer, try await send(samples.timer()), about: "a timer"))
    let succeeded = answered(
      .callResult, try await send(samples.callResult(isSuccess: true)), about: "the result of a call")
    let failed = answered(
      .callResult, try await send(samples.callResult(isSuccess: false)), about: "the failure of a call")
    try note(succeeded.severity == .failure || failed.severity == .good ? succeeded : failed)
  }

  /// Returns the finding about all types: the worst that occurred, with an example.
  private static func summary(_ findings: [HandlerFinding]) -> HandlerFinding {
    for severity in [HandlerFinding.Severity.failure, .warning] {
      let found = findings.filter { $0.severity == severity }
      guard let first = found.first else { continue }
      let verb = severity == .failure ? "fail" : "are put off or given up"
      return HandlerFinding(
        .types, severity, "\(found.count) of \(findings.count) types \(verb); \(first.what)",
        remedy: "answer 204 for types that are of no interest")
    }
    return HandlerFinding(.types, .good, "answers all \(findings.count) types and subtypes")
  }

  /// Sends the endpoint's own state, because it may rely on the form of that.
  private mutating func state() async throws {
    guard let stored else {
      return try note(HandlerFinding(.state, .skipped, "no outcome of the endpoint stored a state"))
    }
    let request = try await samples.notification(SampleKind(.didRenew), state: stored)
    try note(answered(.state, try await send(request), about: "a notification with the endpoint's own state"))
  }

  private mutating func unknown() async throws {
    var request = try await samples.notification(SampleKind(.didRenew))
    request.subject["type"] = "MILLRACE_CHECK"
    request.subject["millraceCheck"] = ["member": [1]]
    let reply = try await send(request)
    var finding = answered(.unknown, reply, about: "a type and a member that do not exist today")
    switch reply.answer {
    case .refused, .outcome(.deadLetter):
      finding = HandlerFinding(.unknown, .failure, "gives up a type that does not exist today")
    default: break
    }
    if finding.severity == .failure {
      finding.remedy = "answer 204 for unknown types, and ignore unknown members: Apple adds some without notice"
    }
    try note(finding)
  }

  private mutating func malformed() async throws {
    // The signature is valid, so only the parser can refuse it.
    let request = try await samples.notification(SampleKind(.didRenew))
    let body = Array(#"{"specversion": "1.0", "data": "#.utf8)
    let seconds = clock.realTime.millisecondsSince1970 / 1_000
    let headers = endpoint.signature.headers(id: request.id, time: seconds, body: body)
    let usual = endpoint.request(request, trace: nil, now: clock.realTime, limit: endpoint.timeout)
    let fields = usual.headers.fields.map { field in
      headers.first { $0.name == field.name }.map { APIHeaders.Field(name: $0.name, value: $0.value) } ?? field
    }
    let reply = try await endpoint.send(
      ExchangeRequest(method: .post, url: usual.url, headers: APIHeaders(fields), body: body), key: request.key,
      now: clock.realTime, limit: endpoint.timeout)
    var finding = refused(.malformed, reply, "a body that is not JSON")
    if finding.severity == .failure { finding.remedy = "answer 400: the worker then makes a dead letter" }
    try note(finding)
  }

  /// Sends a dry run of a request, and then the request. An endpoint that has acted on the first one takes the second one
  /// for a repetition.
  private mutating func dryRun() async throws {
    let request = try await samples.notification(SampleKind(.expired, .voluntary))
    var dry = endpoint
    dry.isDryRun = true
    let first = try await dry.send(request, now: clock.realTime, limit: endpoint.timeout)
    guard first.response?.headers[DryRunJournal.header] != nil else {
      return try note(
        HandlerFinding(
          .dryRun, hasDryRuns ? .failure : .skipped, "the answer does not confirm the header \(DryRunJournal.header)",
          remedy: hasDryRuns ? "answer with the same header, or remove handler.dryRuns" : nil))
    }
    let second = try await send(request)
    guard second.response?.headers[DryRunJournal.header] == nil, try Self.isSame(first, second) else {
      return try note(
        HandlerFinding(
          .dryRun, .failure, "a request after its dry run got another outcome, or was taken for a dry run",
          remedy: "decide in a dry run as usual, and change nothing"))
    }
    try note(HandlerFinding(.dryRun, .good, "a dry run has the outcome of the request after it"))
  }

  private mutating func speed() throws {
    let text = DurationText.text(.milliseconds(max(1, Int64(longest / .milliseconds(1)))))
    let limit = DurationText.text(endpoint.timeout)
    try note(
      longest * 2 > endpoint.timeout
        ? HandlerFinding(
          .speed, .warning, "the slowest answer took \(text), more than half of the limit of \(limit)",
          remedy: "answer earlier, or raise handler.timeout")
        : HandlerFinding(.speed, .good, "the slowest answer took \(text); the limit is \(limit)"))
  }

  private static let givenUp = "answer 204 if there is nothing to do; an operator has to decide about each dead letter"

  /// Classifies an answer to a valid request.
  private func answered(
    _ check: HandlerFinding.Check, _ reply: EndpointReply, about what: String
  ) -> HandlerFinding {
    switch reply.answer {
    case .outcome(.deadLetter(let reason, _)):
      HandlerFinding(check, .warning, "\(what): a dead letter \(reason)", remedy: Self.givenUp)
    case .outcome(.retry(_, let reason, _)): HandlerFinding(check, .good, "\(what): a retry \(reason)")
    case .outcome: HandlerFinding(check, .good, "\(what): an outcome")
    case .nothing: HandlerFinding(check, .good, "\(what): nothing to do")
    case .refused(let status, let detail):
      HandlerFinding(check, .warning, "\(what): given up with \(status), \(detail)", remedy: Self.givenUp)
    case .later(_, let status): HandlerFinding(check, .warning, "\(what): later (\(status))")
    case .failed(let failure, let detail):
      HandlerFinding(check, .failure, "\(what): \(failure.rawValue), \(detail)", remedy: "read the endpoint's log")
    case .misconfigured(let status):
      HandlerFinding(
        check, .failure, "\(what): answered \(status), which means a misconfigured endpoint",
        remedy: status == 401 ? "compare the secrets of both sides" : "check the URL, and answer 200 or 204")
    case .invalid(let detail):
      HandlerFinding(
        check, .failure, "\(what): the outcome does not fit: \(detail)",
        remedy: "see docs/http-workers/outcome.schema.json")
    }
  }
}

extension [HandlerFinding] {
  /// The exit status: failure if a check failed.
  package var status: CommandStatus { contains { $0.severity == .failure } ? .failure : .success }
}

extension JSON {
  /// This value with the members of every object in the order of their names.
  fileprivate var sortedByName: JSON {
    switch self {
    case .object(let object):
      let members = object.members.map { JSONObject.Member(key: $0.key, value: $0.value.sortedByName) }
      return .object(JSONObject(members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }))
    case .array(let values): return .array(values.map(\.sortedByName))
    case .null, .bool, .integer, .number, .string: return self
    }
  }
}
