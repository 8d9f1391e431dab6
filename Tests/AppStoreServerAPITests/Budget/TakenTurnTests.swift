import AppStore
import Clocks
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct TakenTurnTests {
  private let fixture: APIFixture
  private let exchange = ScriptedExchange(answer: ExchangeAnswer(status: 200))
  private let budget: APIBudget
  private let client: AppStoreServerClient
  private let key = BudgetKey(bundleId: APIFixture.bundleId, environment: .production, endpoint: .finishTransaction)

  /// Turns a little more than a second apart, and a client that waits for none.
  init() throws {
    fixture = try APIFixture()
    budget = fixture.budget(limits: RateLimits(productionPerSecond: [.finishTransaction: 1, .lookUpOrderId: 1]))
    client = try fixture.client(exchange, budget: budget).waiting(TurnPatience(atMost: .zero))
  }

  private func finish(
    _ client: AppStoreServerClient, in environment: AppStoreEnvironment = .production
  ) async -> APIError? {
    await apiError { () async throws(APIError) in
      try await client.finishTransaction(APIFixture.transactionId, in: environment)
    }
  }

  @Test func `a turn taken ahead is the next call's, and one call's only`() async throws {
    let holder = try await client.takingTurn(for: .finishTransaction, in: .production)
    #expect(exchange.requests.isEmpty, "nothing is sent for it")
    #expect(await finish(client)?.kind == .budget, "it is nobody else's")
    #expect(await finish(holder) == nil && exchange.requests.count == 1)
    #expect(await finish(holder)?.kind == .budget && exchange.requests.count == 1)
    #expect(budget.use().first { $0.key == key }?.taken == 1)
  }

  @Test func `it is no turn anywhere else`() async throws {
    let holder = try await client.takingTurn(for: .finishTransaction, in: .sandbox)
    #expect(await finish(client) == nil)
    #expect(await finish(holder)?.kind == .budget)
    #expect(await finish(holder, in: .sandbox) == nil)
  }

  @Test func `one that is too far away is refused as the call would be, and nothing is used up`() async throws {
    #expect(await finish(client) == nil)
    let error = await apiError { () async throws(APIError) in
      try await client.takingTurn(for: .finishTransaction, in: .production)
    }
    #expect(error?.kind == .budget && error?.endpoint == .finishTransaction && error?.environment == .production)
    #expect(try #require(error?.retryAt) > fixture.clock.wallTime)
    fixture.manual.advance(by: .seconds(2))
    #expect(await finish(client) == nil)
  }

  @Test func `it is waited for as a call's turn is`() async throws {
    #expect(await finish(client) == nil)
    let patient = client.waiting(TurnPatience(atMost: .seconds(5)))
    async let waiting = patient.takingTurn(for: .finishTransaction, in: .production)
    while budget.waiting(for: key) < 1 { await Task.yield() }
    fixture.manual.advance(by: .seconds(2))
    #expect(await finish(try await waiting) == nil)
  }

  @Test func `a pause takes it away`() async throws {
    let holder = try await client.takingTurn(for: .finishTransaction, in: .production)
    budget.pause(BudgetPause(key, until: fixture.clock.wallTime + .seconds(30)))
    #expect(await finish(holder)?.kind == .budget && exchange.requests.isEmpty)
    fixture.manual.advance(by: .seconds(60))
    #expect(await finish(holder) == nil)
  }
}
