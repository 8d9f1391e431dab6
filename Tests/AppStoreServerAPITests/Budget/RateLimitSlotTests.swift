import AppStore
import MillraceTime
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct RateLimitSlotTests {
  private let fixture: APIFixture
  private let exchange = ScriptedExchange(answer: ExchangeAnswer(status: 200))
  private let budget: APIBudget
  private let client: AppStoreServerClient
  private let key = BudgetKey(bundleId: APIFixture.bundleId, environment: .production, endpoint: .finishTransaction)

  /// Creates slots a little more than a second apart, and a client that waits for none.
  init() throws {
    fixture = try APIFixture()
    budget = fixture.budget(limits: RateLimits(productionPerSecond: [.finishTransaction: 1, .lookUpOrderId: 1]))
    client = try fixture.client(exchange, budget: budget).waiting(RateLimitWait(atMost: .zero))
  }

  private func finish(
    _ client: AppStoreServerClient, in environment: AppStoreEnvironment = .production
  ) async -> APIError? {
    await apiError { () async throws(APIError) in
      try await client.finishTransaction(APIFixture.transactionId, in: environment)
    }
  }

  @Test func `a reserved slot is used by the next call, and by one call only`() async throws {
    let holder = try await client.takingTurn(for: .finishTransaction, in: .production)
    #expect(exchange.requests.isEmpty, "a reservation sends nothing")
    #expect(await finish(client)?.kind == .budget, "another client cannot use it")
    #expect(await finish(holder) == nil && exchange.requests.count == 1)
    #expect(await finish(holder)?.kind == .budget && exchange.requests.count == 1)
    #expect(budget.use().first { $0.key == key }?.taken == 1)
  }

  @Test func `a reserved slot is valid for its budget only`() async throws {
    let holder = try await client.takingTurn(for: .finishTransaction, in: .sandbox)
    #expect(await finish(client) == nil)
    #expect(await finish(holder)?.kind == .budget)
    #expect(await finish(holder, in: .sandbox) == nil)
  }

  @Test func `a slot that is too far away is refused as a call would be, and uses nothing`() async throws {
    #expect(await finish(client) == nil)
    let error = await apiError { () async throws(APIError) in
      try await client.takingTurn(for: .finishTransaction, in: .production)
    }
    #expect(error?.kind == .budget && error?.endpoint == .finishTransaction && error?.environment == .production)
    #expect(try #require(error?.retryAt) > fixture.clock.wallTime)
    fixture.manual.advance(by: .seconds(2))
    #expect(await finish(client) == nil)
  }

  @Test func `a reservation waits as a call does`() async throws {
    #expect(await finish(client) == nil)
    let patient = client.waiting(RateLimitWait(atMost: .seconds(5)))
    async let waiting = patient.takingTurn(for: .finishTransaction, in: .production)
    try await waitUntil(budget.waiting(for: key) >= 1)
    fixture.manual.advance(by: .seconds(2))
    #expect(await finish(try await waiting) == nil)
  }

  @Test func `a pause cancels the reservation`() async throws {
    let holder = try await client.takingTurn(for: .finishTransaction, in: .production)
    budget.pause(BudgetPause(key, until: fixture.clock.wallTime + .seconds(30)))
    #expect(await finish(holder)?.kind == .budget && exchange.requests.isEmpty)
    fixture.manual.advance(by: .seconds(60))
    #expect(await finish(holder) == nil)
  }
}
