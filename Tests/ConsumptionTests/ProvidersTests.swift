import AppStore
import AppStoreServerAPI
import MillraceTime
import MillraceCore
import Synchronization
import Testing

@testable import Consumption

@Suite(.timeLimit(.minutes(15))) struct ProvidersTests {
  private let clock = ManualClock()

  private func question(
    _ product: String = "coins.100", _ type: ProductType = .consumable,
    _ reason: ConsumptionRequestReason? = .unintendedPurchase
  ) -> ConsumptionQuestion {
    ConsumptionQuestion(
      notificationId: "6a0b3a2c", version: .v2, bundleId: "com.example.app", environment: .production,
      transactionId: "1", productId: product, productType: type, reason: reason,
      deadline: ConsumptionDeadline(signedDate: nil, receivedAt: clock.clock.wallTime))
  }

  private func http(_ exchange: any HTTPExchange) throws -> HTTPProvider {
    try HTTPProvider(
      url: "https://crm.example.com/consumption", secrets: [[1, 2, 3]], timeout: .seconds(5), exchange: exchange,
      clock: clock.clock)
  }

  private static let good = #"{"customerConsented":true,"deliveryStatus":"DELIVERED","sampleContentProvided":false}"#

  @Test(arguments: [
    (200, good, "answer"), (200, "<html>", "answer-unreadable"), (200, "", "answer-unreadable"), (204, "", "unknown"),
    (404, "", "unknown"), (409, "", "no-consent"), (429, "", "provider-limit"), (500, "", "provider-error"),
    (503, good, "provider-error"), (302, "", "provider-refused"), (401, "", "provider-refused"),
  ])
  func `the status determines a response's meaning`(_ status: Int, _ body: String, _ meaning: String) async throws {
    let exchange = Answering { _ in ExchangeAnswer(status: status, body: Array(body.utf8)) }
    let reply = try await http(exchange).answer(question())
    switch reply {
    case .answer: #expect(meaning == "answer")
    case .unknown: #expect(meaning == "unknown")
    case .noConsent: #expect(meaning == "no-consent")
    case .later(let reason, _): #expect(reason == meaning)
    }
  }

  @Test func `a truncated response is not an answer`() async throws {
    let reply = try await http(
      Answering { _ in ExchangeAnswer(status: 200, body: Array(Self.good.utf8), isComplete: false) }
    ).answer(question())
    #expect(reply == .later("answer-unreadable", after: nil))
  }

  @Test func `Retry-After is respected`() async throws {
    let reply = try await http(Answering { _ in ExchangeAnswer(status: 503, headers: ["Retry-After": "90"]) })
      .answer(question())
    #expect(reply == .later("provider-error", after: .seconds(90)))
  }

  @Test func `a provider that does not respond in time is asked again`() async throws {
    let never = AsyncStream<Void> { _ in }
    let provider = try http(
      Answering { _ in
        for await _ in never {}
        return ExchangeAnswer(status: 200)
      })
    async let reply = provider.answer(question())
    await clock.waitForSleepers(1)
    clock.advance(by: .seconds(5))
    #expect(await reply == .later("provider-timeout", after: nil))
  }

  @Test func `the question is posted with its id and the current time`() async throws {
    let seen = Mutex<[ExchangeRequest]>([])
    let provider = try http(
      Answering { request in
        seen.withLock { $0.append(request) }
        return ExchangeAnswer(status: 204)
      })
    let asked = question()
    _ = await provider.answer(asked)
    clock.advance(by: .seconds(60))
    _ = await provider.answer(asked)
    let requests = seen.withLock { $0 }
    #expect(requests.map { $0.headers["webhook-id"] } == ["6a0b3a2c", "6a0b3a2c"])
    let times = requests.compactMap { $0.headers["webhook-timestamp"].flatMap { Int64($0) } }
    #expect(times.count == 2 && times[1] - times[0] == 60)
    #expect(requests[0].body == requests[1].body)
    let body = try JSONObject(parsing: try #require(requests.first?.body))
    #expect(body["notificationUUID"] == .string("6a0b3a2c"))
    #expect(body["appAccountToken"] == nil)
  }

  @Test func `in a rehearsal the question carries the real time, which the receiver checks`() async throws {
    let seen = Mutex<[String]>([])
    let provider = try HTTPProvider(
      url: "https://crm.example.com/consumption", secrets: [[1, 2, 3]], timeout: .seconds(3_600),
      exchange: Answering { request in
        seen.withLock { $0.append(request.headers["webhook-timestamp"] ?? "") }
        return ExchangeAnswer(status: 204)
      }, clock: MillraceClock(origin: Timestamp(millisecondsSince1970: 1_700_000_000_000), rate: 1))
    let before = MillraceClock.system.wallTime.millisecondsSince1970 / 1_000
    _ = await provider.answer(question())
    let time = try #require(seen.withLock { $0.first }.flatMap { Int64($0) })
    #expect(time >= before && time < before + 60)
  }

  @Test func `the first matching rule answers`() async throws {
    func rule(_ change: (inout ConsumptionRule) -> Void) -> ConsumptionRule {
      var rule = ConsumptionRule()
      rule.customerConsented = true
      rule.deliveryStatus = .delivered
      change(&rule)
      return rule
    }
    let rules = RulesProvider([
      rule {
        $0.product = "coins.*"; $0.reasons = [.legal]; $0.refundPreference = .grantFull
      },
      rule {
        $0.product = "coins.*"; $0.type = .consumable; $0.refundPreference = .decline
      },
      rule {
        $0.product = "secret"; $0.customerConsented = false
      },
      rule { $0.bundleId = "com.example.other" },
    ])
    func preference(_ reply: ProviderReply) -> RefundPreference? {
      if case .answer(let answer) = reply { answer.refundPreference } else { nil }
    }
    #expect(preference(await rules.answer(question("coins.1", .consumable, .legal))) == .grantFull)
    #expect(preference(await rules.answer(question("coins.1", .consumable, nil))) == .decline)
    #expect(await rules.answer(question("coins.1", .nonConsumable)) == .unknown)
    #expect(await rules.answer(question("secret")) == .noConsent)
    #expect(await rules.answer(question("coin")) == .unknown)
  }

  @Test func `the first provider with an answer decides, and an unavailable one is not skipped`() async throws {
    func chain(_ replies: ProviderReply...) -> ProviderChain {
      ProviderChain(replies.enumerated().map { Fixed(name: "p\($0.offset)", reply: $0.element) })
    }
    let good = ProviderReply.answer(try ConsumptionAnswer(parsing: Array(Self.good.utf8)))
    guard case .send(_, by: "p1") = await chain(.unknown, good).find(question()) else {
      Issue.record("the second provider was not asked")
      return
    }
    #expect(await chain(.noConsent, good).find(question()) == .withhold(reason: "no-consent", by: "p0"))
    #expect(await chain(.unknown, .unknown).find(question()) == .withhold(reason: "no-provider-knows", by: nil))
    #expect(
      await chain(.later("provider-error", after: nil), good).find(question())
        == .later(reason: "provider-error", detail: nil, after: nil, by: "p0"))
    let refusal = try ConsumptionAnswer(parsing: Array(#"{"customerConsented":false}"#.utf8))
    #expect(await chain(.answer(refusal), good).find(question()) == .withhold(reason: "no-consent", by: "p0"))
    guard
      case .later(reason: "answer-invalid", let detail?, _, by: "p0") =
        await chain(.answer(ConsumptionAnswer(json: ["customerConsented": true])), good).find(question())
    else {
      Issue.record("a wrong answer was skipped")
      return
    }
    #expect(detail.contains("deliveryStatus"))
  }
}

private struct Fixed: ConsumptionProvider {
  let name: String
  let reply: ProviderReply
  func answer(_ question: ConsumptionQuestion) async -> ProviderReply { reply }
}

/// Answers from a closure.
struct Answering: HTTPExchange {
  let answer: @Sendable (ExchangeRequest) async -> ExchangeAnswer

  init(_ answer: @escaping @Sendable (ExchangeRequest) async -> ExchangeAnswer) { self.answer = answer }

  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer { await answer(request) }
}
