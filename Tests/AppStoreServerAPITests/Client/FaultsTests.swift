// Tests every failure of Apple or of the network with an injected clock, and the error that the caller gets.

import AppStore
import MillraceTime
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct FaultsTests {
  private let fixture: APIFixture
  private static let request = ExtendRenewalDateRequest(
    extendByDays: 7, extendReasonCode: .serviceIssueOrOutage, requestIdentifier: "campaign/1")

  init() throws { fixture = try APIFixture() }

  private func read(_ exchange: ScriptedExchange) async throws -> APIError {
    let client = try fixture.client(exchange)
    return try #require(
      await apiError { () async throws(APIError) in
        try await client.getTransactionInfo(APIFixture.transactionId, in: .production)
      })
  }

  private func write(_ exchange: ScriptedExchange) async throws -> APIError {
    let client = try fixture.client(exchange)
    return try #require(
      await apiError { () async throws(APIError) in
        try await client.extendSubscriptionRenewalDate(
          APIFixture.originalTransactionId, Self.request, in: .production)
      })
  }

  /// Responds after the clock has advanced by the latency.
  private func slow(_ latency: Duration, _ answer: ExchangeAnswer) -> ScriptedExchange {
    let clock = fixture.clock
    return ScriptedExchange { _, _ in
      try await clock.sleep(until: clock.now.advanced(by: latency))
      return answer
    }
  }

  @Test func `latency beyond the deadline ends the call and its request`() async throws {
    let exchange = slow(.seconds(60), ExchangeAnswer(status: 200))
    async let reading = read(exchange)
    await fixture.manual.waitForSleepers(2)
    fixture.manual.advance(by: .seconds(30))
    let error = try await reading
    #expect(error.kind == .deadline)
    #expect(error.errorClass == .retryNow)
    #expect(!error.isUnclear)
    for await _ in exchange.cancellations { break }
  }

  @Test func `after a deadline the effect of a writing call is unclear`() async throws {
    let exchange = slow(.seconds(60), ExchangeAnswer(status: 200))
    async let writing = write(exchange)
    await fixture.manual.waitForSleepers(2)
    fixture.manual.advance(by: .seconds(30))
    let error = try await writing
    #expect(error.kind == .deadline)
    #expect(error.isUnclear)
    #expect(error.advice.contains("same bytes"))
  }

  @Test func `latency within the deadline is not an error`() async throws {
    let exchange = slow(.seconds(29), try fixture.transactionInfo())
    let client = try fixture.client(exchange)
    async let response = client.getTransactionInfo(APIFixture.transactionId, in: .production)
    await fixture.manual.waitForSleepers(2)
    fixture.manual.advance(by: .seconds(29))
    #expect(try await response.status == 200)
  }

  @Test func `a copy of a client can have another time limit`() async throws {
    let exchange = slow(.seconds(60), ExchangeAnswer(status: 200))
    let client = try fixture.client(exchange).within(.seconds(2))
    async let failure = apiError { () async throws(APIError) in
      try await client.finishTransaction(APIFixture.transactionId, in: .sandbox)
    }
    await fixture.manual.waitForSleepers(2)
    fixture.manual.advance(by: .seconds(2))
    #expect(await failure?.kind == .deadline)
  }

  @Test(
    arguments: [
      (.error(5_000_000), .retryLater, 5_000_000), (.error(5_000_001), .retryNow, 5_000_001),
      (.html(500), .retryLater, nil), (ExchangeAnswer(status: 503), .retryLater, nil), (.html(502), .retryNow, nil),
      (ExchangeAnswer(status: 500, body: Array(#"{"errorCode":50000"#.utf8), isComplete: false), .retryLater, nil),
    ] as [(ExchangeAnswer, ErrorClass, Int64?)])
  func `a 5xx with or without JSON is typed, and leaves writes unclear`(
    answer: ExchangeAnswer, expected: ErrorClass, code: Int64?
  ) async throws {
    let read = try await read(ScriptedExchange(answer: answer))
    #expect(read.kind == .refused)
    #expect(read.code?.rawValue == code)
    #expect(read.status == answer.status)
    #expect(!read.isUnclear)
    let written = try await write(ScriptedExchange(answer: answer))
    #expect(written.isUnclear)
    #expect(read.errorClass == expected)
  }

  @Test(
    arguments: [
      ("1767225690000", 90), ("1767225690", 90), ("90", 90), ("Thu, 01 Jan 2026 00:01:30 GMT", 90), ("whenever", 60),
      (nil, 60), ("0", 1),
    ] as [(String?, Int)])
  func `a 429 pauses the budget until its time, in every form`(value: String?, seconds: Int) async throws {
    let headers: APIHeaders = value.map { ["Retry-After": $0] } ?? [:]
    let exchange = ScriptedExchange(answer: .error(4_290_000, headers: headers))
    let client = try fixture.client(exchange)
    let error = try #require(
      await apiError { () async throws(APIError) in
        try await client.getTransactionInfo(APIFixture.transactionId, in: .production)
      })
    let until = fixture.clock.wallTime + .seconds(seconds)
    #expect(error.kind == .rateLimited)
    #expect(error.errorClass == .retryLater)
    #expect(error.retryAt == until)
    #expect(error.headers["retry-after"] == value)
    let key = BudgetKey(bundleId: APIFixture.bundleId, environment: .production, endpoint: .getTransactionInfo)
    #expect(fixture.pauses.all == [BudgetPause(key, until: until)])
    #expect(client.delay(for: .getTransactionInfo, in: .production) == .seconds(seconds))
    #expect(client.delay(for: .getTransactionInfo, in: .sandbox) == .zero)
    // A call that would have to wait too long is not sent.
    let next = try #require(
      await apiError { () async throws(APIError) in
        try await client.within(.milliseconds(500)).getTransactionInfo(APIFixture.transactionId, in: .production)
      })
    #expect(next.kind == .budget)
    #expect(next.errorClass == .retryLater)
    #expect(next.retryAt == until)
    #expect(exchange.requests.count == 1)
  }

  @Test func `a connection reset is unclear for writes, and a connection that was never made is not`() async throws {
    let reset = ScriptedExchange { _, _ in throw TransportFailure("connection reset", .unclear) }
    let refused = ScriptedExchange { _, _ in throw TransportFailure("connection refused", .notSent) }
    for exchange in [reset, refused] {
      let error = try await read(exchange)
      #expect(error.errorClass == .retryNow)
      #expect(!error.isUnclear)
      #expect(error.description.contains("connection re"))
    }
    #expect(try await write(reset).isUnclear)
    #expect(try await !write(refused).isUnclear)
    #expect(reset.requests.count == 2)
  }

  @Test func `a success with a truncated, HTML, empty or malformed body is an error`() async throws {
    let whole = try fixture.transactionInfo()
    let answers: [(ExchangeAnswer, ErrorClass)] = [
      (ExchangeAnswer(status: 200, body: Array(whole.body.prefix(1000)), isComplete: false), .retryNow),
      (ExchangeAnswer(status: 200, body: Array(whole.body.dropLast())), .retryLater), (.html(200), .retryLater),
      (ExchangeAnswer(status: 200), .retryLater), (.json(200, [:]), .retryLater),
      (.json(200, ["signedTransactionInfo": 7]), .retryLater),
    ]
    for (answer, expected) in answers {
      let error = try await read(ScriptedExchange(answer: answer))
      #expect(error.status == 200)
      #expect(error.errorClass == expected)
      #expect(error.kind.isUndecodable, "\(error)")
      let written = try await write(ScriptedExchange(answer: answer))
      #expect(written.kind.isUndecodable)
      // Apple accepted the request, and only the response is lost.
      #expect(written.isUnclear)
    }
  }

  @Test func `cancelling the task cancels the request`() async throws {
    let exchange = slow(.seconds(60), ExchangeAnswer(status: 200))
    let writing = Task { try await write(exchange) }
    await fixture.manual.waitForSleepers(2)
    writing.cancel()
    let error = try await writing.value
    #expect(error.kind == .cancelled)
    #expect(error.isUnclear)
    for await _ in exchange.cancellations { break }
  }

  @Test func `a call that is cancelled while it waits for a slot was not sent`() async throws {
    let exchange = ScriptedExchange(answer: try fixture.transactionInfo())
    let budget = fixture.budget(limits: RateLimits(productionPerSecond: [.extendSubscriptionRenewalDate: 0.05]))
    let client = try fixture.client(exchange, budget: budget, timeLimit: .seconds(3_600))
    let key = BudgetKey(
      bundleId: APIFixture.bundleId, environment: .production, endpoint: .extendSubscriptionRenewalDate)
    try await budget.acquire(key)
    let writing = Task {
      await apiError { () async throws(APIError) in
        try await client.extendSubscriptionRenewalDate(
          APIFixture.originalTransactionId, Self.request, in: .production)
      }
    }
    await fixture.manual.waitForSleepers(2)
    writing.cancel()
    let error = try #require(await writing.value)
    #expect(error.kind == .cancelled)
    #expect(!error.isUnclear)
    #expect(exchange.requests.isEmpty)
  }
}

extension APIError.Kind {
  fileprivate var isUndecodable: Bool { if case .undecodable = self { true } else { false } }
}
