// Many callers share one client for hours of compressed time, over sockets. The simulator counts by the hour as Apple
// does, independently of the client's budget.

import AppStore
import AppStoreSimulator
import MillraceTime
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct SimulatorPaceTests {
  /// With a share of 1 there is no margin between the budget and Apple's limit.
  @Test(arguments: [0.8, 1])
  func `a thousand callers stay within every hour's limit and use 95 % of their budget`(share: Double)
    async throws
  {
    // The customer is an old one without notifications, so only the callers sleep on the clock.
    let settings = """
      world: { customers: [{ count: 1, products: [\(SimulatedStore.coins)], since: 30d }] }
      server: { limits: { divisor: 200 } }

      """
    try await SimulatedStore.running(settings) { store in
      let exchange = WatchedExchange(store.exchange, clock: store.clock)
      let budget = APIBudget(limits: .divided(by: 200), share: share, clock: store.clock)
      let client = try store.client(exchange: exchange, budget: budget, timeLimit: .seconds(1_000_000))
      let transaction = try #require(store.simulator.world.withState { $0.transactions.keys.first })
      let request = UpdateAppAccountTokenRequest(appAccountToken: "0f9c6f0e-6f39-4a0b-9df4-3a6a0b3a2c11")
      let key = BudgetKey(
        bundleId: SimulatedStore.bundleId, environment: .production, endpoint: .setAppAccountToken)
      try #require(store.manual.nextDeadline == nil)
      let crowd = Crowd(manual: store.manual, budget: budget, key: key, exchange: exchange)
      let hours = 3
      let sent = try await crowd.call(for: hours, seed: 1) { () async throws(APIError) in
        _ = try await client.setAppAccountToken(String(transaction), request, in: .production)
      }
      let asked = try #require(store.asked(key.endpoint))
      let broken = store.simulator.report.api.broken
      #expect(asked.byStatus == [200: sent.count])
      #expect(broken.isEmpty, "\(broken)")
      // Apple documents 20 per second. The limit here is a two-hundredth of it.
      let cap = 360 * share
      let fullest = try #require(asked.fullestHours.first)
      #expect(fullest.limit == 360 && Double(fullest.admitted) <= cap)
      #expect(Double(sent.most(within: .seconds(3_600))) <= cap)
      for (hour, used) in sent.byHour(hours).enumerated() { #expect(Double(used) >= cap * 0.95, "hour \(hour)") }
    }
  }
}
