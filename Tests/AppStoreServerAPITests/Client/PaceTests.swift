// Many callers share one client, for hours of virtual time.

import AppStore
import MillraceTime
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct PaceTests {
  private let fixture: APIFixture
  private let key = BudgetKey(
    bundleId: APIFixture.bundleId, environment: .production, endpoint: .finishTransaction)

  init() throws { fixture = try APIFixture() }

  @Test func `a thousand callers stay within the budget in every hour and use 95 % of it`() async throws {
    let exchange = WatchedExchange(ScriptedExchange(answer: ExchangeAnswer(status: 200)), clock: fixture.clock)
    let budget = fixture.budget(limits: RateLimits(productionPerSecond: [.finishTransaction: 0.25]))
    let client = try fixture.client(exchange, budget: budget, timeLimit: .seconds(1_000_000))
    let crowd = Crowd(manual: fixture.manual, budget: budget, key: key, exchange: exchange)
    let sent = try await crowd.call(for: 3, seed: 1) { () async throws(APIError) in
      _ = try await client.finishTransaction(APIFixture.transactionId, in: .production)
    }
    // Apple's 900 per hour times the share of 0.8.
    let cap = 720
    #expect(sent.most(within: .seconds(3_600)) <= cap)
    for (hour, used) in sent.byHour(3).enumerated() { #expect(Double(used) >= Double(cap) * 0.95, "hour \(hour)") }
  }

  @Test func `a call that waits longer than a token lives is sent with a new token`()
    async throws
  {
    let exchange = ScriptedExchange(answer: ExchangeAnswer(status: 200))
    let budget = fixture.budget(limits: RateLimits(productionPerSecond: [.finishTransaction: 1.0 / 3_600]))
    let client = try fixture.client(exchange, budget: budget, timeLimit: .seconds(100_000))
    for call in 0..<2 {
      async let answer = client.finishTransaction(APIFixture.transactionId, in: .production)
      if call > 0 {
        await fixture.manual.waitForSleepers(2)
        fixture.manual.advance(by: try #require(budget.delay(for: key)))
      }
      #expect(try await answer.status == 200)
    }
    let now = fixture.clock.wallTime.millisecondsSince1970 / 1_000
    let claims = try #require(exchange.requests.last?.token?.split(separator: ".").dropFirst().first)
    let issued = try JSONObject(parsing: try #require(Base64.decodeURL(Array(claims.utf8)))).integer("iat")
    #expect(fixture.clock.now.elapsed > APIToken.lifetime)
    #expect(issued.map { (now - 61...now).contains($0) } == true)
  }
}
