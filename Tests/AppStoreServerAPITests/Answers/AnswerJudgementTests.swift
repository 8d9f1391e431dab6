import AppStore
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite struct AnswerJudgementTests {
  private let now = Timestamp(millisecondsSince1970: 1_767_225_600_000)
  private let get = APICall(endpoint: .getTransactionInfo, environment: .production, path: ["x"])
  private let put = APICall(endpoint: .extendSubscriptionRenewalDate, environment: .production, path: ["x"])

  @Test(arguments: [200, 201, 202, 204, 206, 299])
  func `only the status decides whether a response is a success`(status: Int) {
    #expect(AnswerJudgement.error(in: .html(status), to: get, now: now) == nil)
  }

  /// Without a readable error code the status decides, regardless of the body.
  @Test(
    arguments: [
      (300, .configuration), (301, .configuration), (302, .configuration), (400, .never), (401, .configuration),
      (403, .configuration), (404, .configuration), (405, .configuration), (407, .configuration), (408, .retryNow),
      (413, .never), (418, .never), (421, .configuration), (429, .retryLater), (500, .retryLater), (501, .retryLater),
      (502, .retryNow), (503, .retryLater), (504, .retryNow), (599, .retryLater), (600, .never), (100, .never),
    ] as [(Int, ErrorClass)])
  func `bodies without an error code are classified by status`(status: Int, expected: ErrorClass) throws {
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

  @Test func `only failures on Apple's side leave an effect unclear`() throws {
    for (status, isUnclear) in [(400, false), (403, false), (404, false), (408, true), (429, false), (500, true)] {
      let error = try #require(AnswerJudgement.error(in: .html(status), to: put, now: now))
      #expect(error.isUnclear == isUnclear, "\(status)")
      #expect(error.advice.contains("same bytes") == isUnclear)
    }
  }

  @Test func `Retry-After is read at any status, and an invalid value is ignored`() throws {
    for status in [429, 500, 503] {
      var answer = ExchangeAnswer(status: status, headers: ["retry-after": "1767225660000"])
      #expect(try #require(AnswerJudgement.error(in: answer, to: get, now: now)).retryAt == now + .seconds(60))
      answer = ExchangeAnswer(status: status, headers: ["Retry-After": "tomorrow"])
      #expect(try #require(AnswerJudgement.error(in: answer, to: get, now: now)).retryAt == nil)
    }
  }

  /// The class of each of Apple's codes, taken from its documentation page and not from the client's table: the lookups
  /// and the internal error that Apple calls retryable, the ones that pass with time, the ones that an operator has to
  /// fix in a key, an app or App Store Connect, and the ones that the same request never passes.
  private static let classes: [ErrorClass: [Int64]] = [
    .retryNow: [4_040_002, 4_040_004, 5_000_001],
    .retryLater: [4_040_006, 4_040_008, 4_290_000, 5_000_000],
    .configuration: [4_000_002, 4_030_014, 4_030_016, 4_030_017, 4_030_018, 4_030_026, 4_040_003, 4_040_007],
    .never: [
      4_000_000, 4_000_005, 4_000_006, 4_000_008, 4_000_009, 4_000_010, 4_000_011, 4_000_012, 4_000_013, 4_000_014,
      4_000_015, 4_000_016, 4_000_017, 4_000_018, 4_000_019, 4_000_020, 4_000_021, 4_000_022, 4_000_023, 4_000_024,
      4_000_025, 4_000_026, 4_000_027, 4_000_028, 4_000_030, 4_000_031, 4_000_032, 4_000_033, 4_000_034, 4_000_035,
      4_000_036, 4_000_037, 4_000_038, 4_000_039, 4_000_040, 4_000_041, 4_000_042, 4_000_043, 4_000_047, 4_000_048,
      4_000_161, 4_000_162, 4_000_163, 4_000_164, 4_000_175, 4_000_183, 4_000_185, 4_000_187, 4_000_211, 4_000_212,
      4_000_213, 4_000_215, 4_000_216, 4_000_218, 4_000_219, 4_000_224, 4_030_004, 4_030_005, 4_030_007, 4_030_019,
      4_040_001, 4_040_005, 4_040_009, 4_040_010, 4_040_014, 4_040_015, 4_040_018, 4_040_019, 4_040_020, 4_040_021,
      4_090_000, 4_090_001,
    ],
  ]

  private static let expected = classes.flatMap { expected, codes in codes.map { ($0, expected) } }
    .sorted { $0.0 < $1.0 }

  @Test(arguments: expected)
  func `each of Apple's codes has its class, its name and its message`(
    code: Int64, expected: ErrorClass
  ) throws {
    for call in [get, put] {
      let error = try #require(AnswerJudgement.error(in: .error(code), to: call, now: now))
      #expect(error.code?.rawValue == code)
      #expect(error.errorClass == expected)
      #expect(error.message == "as scripted")
      #expect(error.kind == (code == 4_290_000 ? .rateLimited : .refused))
      #expect(error.isUnclear == (code >= 5_000_000 && call.endpoint.hasEffect))
      let name = try #require(error.code?.name)
      for part in [name, "(\(code))", "\"as scripted\"", "Apple answered \(code / 10_000)"] {
        #expect(error.what.contains(part), "\(error)")
      }
      if !error.isUnclear { #expect(error.advice.contains(try #require(Self.words[expected])), "\(error)") }
    }
  }

  /// The advice of each class to an operator.
  private static let words: [ErrorClass: String] = [
    .retryNow: "send it again", .retryLater: "send it again in a few minutes", .never: "https://developer.apple.com/",
    .configuration: "App Store Connect",
  ]

  @Test(.enabled(if: SharedMaterial.isPresent, "../shared is absent"))
  func `the classes above cover all of Apple's codes, and retry those that Apple calls retryable`() throws {
    let facts = try SharedMaterial.json("app-store-facts/error-codes.json").objects("errors")
    let classes = Dictionary(uniqueKeysWithValues: Self.expected.map { ($0.0, $0.1) })
    var seen: Set<Int64> = []
    for fact in facts {
      guard let number = fact.integer("code") else { continue }
      seen.insert(number)
      let error = try #require(AnswerJudgement.error(in: .error(number), to: get, now: now))
      #expect(error.status.map(Int64.init) == fact.integer("httpStatus"))
      #expect(error.code?.name == fact.string("name"))
      // Two codes that Apple does not call retryable pass with time: see `retryAdvice`.
      let isRetried = fact["retryable"] == .bool(true) || fact.string("retryAdvice") != nil
      #expect([.retryNow, .retryLater].contains(error.errorClass) == isRetried, "\(number)")
      #expect(error.errorClass == classes[number], "\(number)")
    }
    #expect(seen == Set(classes.keys))
  }

  @Test func `an unknown code keeps its number and is classified by its status`() throws {
    let error = try #require(AnswerJudgement.error(in: .error(5_030_777), to: get, now: now))
    #expect(error.code?.rawValue == 5_030_777)
    #expect(error.errorClass == .retryLater)
  }
}
