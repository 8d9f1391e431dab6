import AppStore
import Testing

@testable import AppStoreServerAPI

@Suite struct AnswerJudgementTests {
  private let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private let get = APICall(endpoint: .getTransactionInfo, environment: .production, path: ["x"])
  private let put = APICall(endpoint: .extendSubscriptionRenewalDate, environment: .production, path: ["x"])

  @Test(arguments: [200, 201, 202, 204, 206, 299])
  func `Success is judged by the status alone`(status: Int) {
    #expect(AnswerJudgement.error(in: .html(status), to: get, now: now) == nil)
  }

  /// Without a code that can be read the status decides, whatever the body is.
  @Test(
    arguments: [
      (300, .configuration), (301, .configuration), (302, .configuration), (400, .never), (401, .configuration),
      (403, .configuration), (404, .configuration), (405, .configuration), (407, .configuration), (408, .retryNow),
      (413, .never), (418, .never), (421, .configuration), (429, .retryLater), (500, .retryLater), (501, .retryLater),
      (502, .retryNow), (503, .retryLater), (504, .retryNow), (599, .retryLater), (600, .never), (100, .never),
    ] as [(Int, ErrorClass)])
  func `Bodies that say nothing are classified by status`(status: Int, expected: ErrorClass) throws {
    let json: [UInt8] = Array(#"{"errorCode":\#(status)0000,"errorMessage":"x"}"#.utf8)
    let answers = [
      ExchangeAnswer.html(status), ExchangeAnswer(status: status),
      ExchangeAnswer(status: status, body: Array(json.dropLast())),
      ExchangeAnswer(status: status, body: json, isComplete: false),
      ExchangeAnswer(status: status, body: Array("[1]".utf8)), ExchangeAnswer(status: status, body: Array("null".utf8)),
      ExchangeAnswer(status: status, body: [0xFF, 0xFE, 0x00]),
      .json(status, ["errorCode": "4040010"]), .json(status, ["errorCode": 7, "errorMessage": 7]),
    ]
    for answer in answers {
      let error = try #require(AnswerJudgement.error(in: answer, to: get, now: now))
      #expect(error.errorClass == expected, "\(String(decoding: answer.body, as: UTF8.self))")
      #expect(error.status == status)
      #expect(!error.isUnclear)
      #expect(error.code == nil || error.code?.rawValue == 7)
      #expect(error.message == nil)
      #expect(!"\(error)".isEmpty)
    }
  }

  @Test func `Only what fails at Apple's side leaves an effect unclear`() throws {
    for (status, isUnclear) in [(400, false), (403, false), (404, false), (408, true), (429, false), (500, true)] {
      let error = try #require(AnswerJudgement.error(in: .html(status), to: put, now: now))
      #expect(error.isUnclear == isUnclear, "\(status)")
      #expect(error.advice.contains("same bytes") == isUnclear)
    }
  }

  @Test func `Retry-After is read at any status, and garbage in it changes nothing`() throws {
    for status in [429, 500, 503] {
      var answer = ExchangeAnswer(status: status, headers: ["retry-after": "1767225660000"])
      #expect(try #require(AnswerJudgement.error(in: answer, to: get, now: now)).retryAt == now + .seconds(60))
      answer = ExchangeAnswer(status: status, headers: ["Retry-After": "tomorrow"])
      #expect(try #require(AnswerJudgement.error(in: answer, to: get, now: now)).retryAt == nil)
    }
  }

  @Test(.enabled(if: SharedMaterial.isPresent, Comment(rawValue: SharedMaterial.absence)))
  func `Every code of Apple's comes out with its class, its status and its words`() throws {
    let facts = try SharedMaterial.object("app-store-facts/error-codes.json").objects("errors")
    var seen = 0
    for fact in facts {
      guard let number = fact.integer("code") else { continue }
      seen += 1
      let error = try #require(AnswerJudgement.error(in: .error(number), to: get, now: now))
      #expect(error.code?.rawValue == number)
      #expect(error.status.map(Int64.init) == fact.integer("httpStatus"))
      #expect(error.message == "as scripted")
      #expect(error.errorClass == APIErrorCode(rawValue: number).errorClass, "\(number)")
      if fact["retryable"] == .bool(true) {
        #expect([.retryNow, .retryLater].contains(error.errorClass), "\(number)")
      } else if number / 10_000 < 500 {
        // A code that is not documented as retryable is given again only where time alone may cure it.
        #expect(error.errorClass != .retryNow, "\(number)")
      }
      #expect((error.kind == .rateLimited) == (number == 4_290_000))
      #expect("\(error)".contains("\(number)"))
    }
    #expect(seen == 87)
  }

  @Test func `An unknown code keeps its number and is classified by its status`() throws {
    let error = try #require(AnswerJudgement.error(in: .error(5_030_777), to: get, now: now))
    #expect(error.code?.rawValue == 5_030_777)
    #expect(error.errorClass == .retryLater)
  }
}
