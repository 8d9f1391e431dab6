import AppStore
import Testing

@testable import AppStoreSimulator

@Suite struct FaultJSONTests {
  private func fault(_ text: String) throws -> Fault {
    try Fault(json: JSONObject(parsing: Array(text.utf8)), origin: .newYear)
  }

  @Test func `a description with every member`() throws {
    let fault = try fault(
      #"""
      {"effect":"status","status":503,"body":"html","endpoints":["extendSubscriptionRenewalDate","lookUpOrderId"],
       "bundleId":"com.example.app","environment":"Sandbox","after":"10m","for":"1h","count":100,"share":0.2}
      """#)
    #expect(
      fault
        == Fault(
          .failure(status: 503, body: .html), endpoints: [.extendSubscriptionRenewalDate, .lookUpOrderId],
          bundleId: "com.example.app", environment: .sandbox, from: .newYear + .seconds(600),
          until: .newYear + .seconds(4_200), count: 100, share: 0.2))
  }

  static let effects: [(text: String, effect: FaultEffect)] = [
    (#"{"effect":"latency","delay":"2s"}"#, .latency(.seconds(2))),
    (#"{"effect":"outage"}"#, .failure(status: 503, body: .html)),
    (#"{"effect":"status","status":500}"#, .failure(status: 500, body: .empty)),
    (
      #"{"effect":"status","status":500,"body":"json","errorCode":5000001}"#,
      .failure(status: 500, body: .json(code: 5_000_001, message: "An unknown error occurred."))
    ),
    (#"{"effect":"tooManyRequests","retryAfter":"5m"}"#, .tooManyRequests(.milliseconds(from: .seconds(300)))),
    (#"{"effect":"tooManyRequests","retryAfterForm":"seconds"}"#, .tooManyRequests(.seconds(60))),
    (#"{"effect":"tooManyRequests","retryAfterForm":"date"}"#, .tooManyRequests(.date(from: .seconds(60)))),
    (#"{"effect":"tooManyRequests","retryAfterForm":"absent"}"#, .tooManyRequests(.absent)),
    (#"{"effect":"unauthorized"}"#, .unauthorized), (#"{"effect":"connectionReset"}"#, .connectionReset),
    (#"{"effect":"truncatedBody","keeping":0.25}"#, .truncatedBody(share: 0.25)),
    (#"{"effect":"answerLost"}"#, .answerLost),
  ]

  @Test(arguments: effects.indices)
  func `every effect has a description`(index: Int) throws {
    #expect(try fault(Self.effects[index].text).effect == Self.effects[index].effect)
  }

  static let mistakes: [(text: String, key: String)] = [
    ("{}", "effect"), (#"{"effect":"earthquake"}"#, "effect"), (#"{"effect":"latency"}"#, "delay"),
    (#"{"effect":"latency","delay":2}"#, "delay"), (#"{"effect":"latency","delay":"soon"}"#, "delay"),
    (#"{"effect":"status"}"#, "status"), (#"{"effect":"status","status":200}"#, "status"),
    (#"{"effect":"status","status":500,"body":"xml"}"#, "body"),
    (#"{"effect":"outage","endpoint":"lookUpOrderId"}"#, "endpoint"),
    (#"{"effect":"outage","endpoints":[]}"#, "endpoints"), (#"{"effect":"outage","endpoints":["x"]}"#, "endpoints"),
    (#"{"effect":"outage","share":0}"#, "share"), (#"{"effect":"outage","share":1.5}"#, "share"),
    (#"{"effect":"outage","count":0}"#, "count"), (#"{"effect":"outage","environment":"Xcode"}"#, "environment"),
    (#"{"effect":"outage","delay":"2s"}"#, "delay"),
  ]

  @Test(arguments: mistakes.indices)
  func `an error names its key`(index: Int) {
    let mistake = Self.mistakes[index]
    let error = #expect(throws: FaultDescriptionError.self) { try fault(mistake.text) }
    #expect(error?.key == mistake.key)
  }

  @Test func `Retry-After in each of its forms`() {
    let minute = Duration.seconds(60)
    #expect(FaultEffect.RetryAfterForm.milliseconds(from: minute).value(now: .newYear) == "1767225660000")
    #expect(FaultEffect.RetryAfterForm.seconds(60).value(now: .newYear) == "60")
    #expect(FaultEffect.RetryAfterForm.date(from: minute).value(now: .newYear) == "Thu, 01 Jan 2026 00:01:00 GMT")
    #expect(FaultEffect.RetryAfterForm.absent.value(now: .newYear) == nil)
    #expect(Timestamp(millisecondsSince1970: 784_111_777_000).httpDate == "Sun, 06 Nov 1994 08:49:37 GMT")
  }
}
