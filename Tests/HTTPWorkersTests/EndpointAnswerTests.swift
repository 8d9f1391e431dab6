import AppStore
import AppStoreServerAPI
import MillraceWorker
import Testing

@testable import HTTPWorkers

@Suite struct EndpointAnswerTests {
  private static let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private static let json: APIHeaders = ["Content-Type": "application/json"]

  private static func of(
    _ status: Int, _ headers: APIHeaders = json, _ body: String = "", isComplete: Bool = true, isCutOff: Bool = false
  ) -> EndpointAnswer {
    .of(
      ExchangeAnswer(
        status: status, headers: headers, body: Array(body.utf8), isComplete: isComplete, isCutOff: isCutOff),
      key: "2000000000000001", now: now)
  }

  @Test(
    arguments: [
      (204, "nothing"), (200, "outcome"), (201, "invalid"), (202, "invalid"), (206, "invalid"), (301, "misconfigured"),
      (304, "misconfigured"), (400, "refused"), (401, "misconfigured"), (403, "misconfigured"), (404, "misconfigured"),
      (405, "misconfigured"), (408, "misconfigured"), (409, "refused"), (410, "refused"), (413, "refused"),
      (415, "refused"), (422, "refused"), (425, "misconfigured"), (429, "failed"), (499, "misconfigured"),
      (500, "failed"), (502, "failed"), (503, "failed"), (504, "failed"), (599, "failed"), (100, "failed"),
      (600, "failed"),
    ])
  func `every status has one meaning`(status: Int, meaning: String) {
    let answer = Self.of(status, Self.json, "{}")
    let found =
      switch answer {
      case .outcome: "outcome"
      case .nothing: "nothing"
      case .later: "later"
      case .failed: "failed"
      case .refused: "refused"
      case .misconfigured: "misconfigured"
      case .invalid: "invalid"
      }
    #expect(found == meaning)
  }

  @Test(arguments: [429, 503])
  func `with Retry-After nothing has failed`(status: Int) {
    func later(_ value: String) -> EndpointAnswer { Self.of(status, ["Retry-After": value]) }
    #expect(later("90") == .later(at: Self.now + .seconds(90), status: status))
    #expect(later("Thu, 01 Jan 2026 00:01:00 GMT") == .later(at: Self.now + .seconds(60), status: status))
    #expect(later("0") == .later(at: Self.now, status: status))
    for long in ["86000", "86401", "99999999999999999999", "Sat, 03 Jan 2026 00:00:00 GMT"] {
      #expect(later(long) == .later(at: Self.now + RetryAfter.longestDelay, status: status), "\(long)")
    }
    for unusable in ["", "soon", "-1", "1.5"] {
      #expect(
        later(unusable) == .failed(.serverError, detail: "answered \(status) without a usable Retry-After"),
        "\(unusable)")
    }
  }

  @Test func `the log has the status and the problem's type and title, and no other text`() {
    func facts(_ status: Int, _ body: String) -> CallAnswer? {
      let headers: APIHeaders = ["content-type": "application/json"]
      let response = ExchangeAnswer(status: status, headers: headers, body: Array(body.utf8))
      let now = Timestamp(millisecondsSince1970: 0)
      return EndpointReply(EndpointAnswer.of(response, key: "k", now: now), response).facts
    }
    let problem = #"{"type": "https://a/no-customer", "title": "no such customer", "detail": "Jane Doe"}"#
    for status in [422, 500, 401] {
      let facts = facts(status, problem)
      #expect(facts?.status == status && facts?.problemType == "https://a/no-customer")
      #expect(facts?.problemTitle == "no such customer" && facts?.detailIsForeign == false)
    }
    let decided = facts(200, #"{"deadLetter": {"reason": "no-customer", "detail": "Jane Doe"}}"#)
    #expect(decided?.status == 200 && decided?.detailIsForeign == true && decided?.problemTitle == nil)
    #expect(EndpointReply(.failed(.timeout, detail: "d"), nil).facts == nil)
  }

  @Test func `the title of a problem document is the detail of a refusal`() {
    let problem = #"{"type": "about:blank", "title": "no such customer\n", "status": 422}"#
    #expect(Self.of(422, [:], problem) == .refused(status: 422, detail: "no such customer "))
    #expect(Self.of(422, [:], "<html>") == .refused(status: 422, detail: "answered 422"))
    #expect(Self.of(422, [:], #"{"title": 5}"#) == .refused(status: 422, detail: "answered 422"))
    #expect(Self.of(422, [:], problem, isComplete: false) == .refused(status: 422, detail: "answered 422"))
    let long = #"{"title": "\#(String(repeating: "x", count: 999))"}"#
    #expect(Self.of(400, [:], long) == .refused(status: 400, detail: String(repeating: "x", count: 300)))
  }

  @Test func `an answer 200 has to be whole, JSON, and an outcome`() {
    #expect(Self.of(200, Self.json, "{}") == .outcome(.results(.init())))
    #expect(Self.of(200, ["content-type": "Application/JSON; charset=utf-8"], "{}") == .outcome(.results(.init())))
    #expect(
      Self.of(200, ["Content-Type": "text/html"], "{}") == .invalid(detail: "the content type is not application/json"))
    #expect(Self.of(200, [:], "{}") == .invalid(detail: "the content type is not application/json"))
    #expect(Self.of(200, Self.json, "") == .invalid(detail: "$: the body is empty"))
    #expect(
      Self.of(200, Self.json, "{") == .invalid(detail: "$: invalid JSON: the document ends inside a value at byte 1"))
    #expect(
      Self.of(200, Self.json, "{", isComplete: false)
        == .failed(.unreachable, detail: "the connection broke within the body of the answer"))
    #expect(
      Self.of(200, Self.json, "{", isComplete: false, isCutOff: true)
        == .invalid(detail: "the body is larger than 1048576 bytes"))
    #expect(Self.of(200, Self.json, #"{"evnts": []}"#) == .invalid(detail: "$.evnts: this member is not allowed here"))
    #expect(Self.of(500, [:], "", isComplete: false, isCutOff: true) == .failed(.serverError, detail: "answered 500"))
  }
}
