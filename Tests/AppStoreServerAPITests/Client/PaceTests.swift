// A crowd of callers behind one client, for hours of the clock's time.

import AppStore
import Clocks
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(5))) struct PaceTests {
  @Test func `A thousand callers stay inside the budget in every hour and use 95 of a hundred of it`() async throws {
    let fixture = try APIFixture()
    let clock = fixture.clock
    let arrivals = Recorder<Duration>()
    let exchange = ScriptedExchange { _, _ in
      arrivals.add(clock.now.elapsed)
      return ExchangeAnswer(status: 200)
    }
    let budget = fixture.budget(limits: RateLimits(productionPerSecond: [.finishTransaction: 1]))
    let client = try fixture.client(exchange, budget: budget, timeLimit: .seconds(100_000))
    let key = BudgetKey(bundleId: APIFixture.bundleId, environment: .production, endpoint: .finishTransaction)
    let callers = 1_000
    let hours = 2
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<callers {
        group.addTask {
          while !Task.isCancelled {
            _ = await apiError { () async throws(APIError) in
              try await client.finishTransaction(APIFixture.transactionId, in: .production)
            }
          }
        }
      }
      while clock.now.elapsed < .seconds(3600 * hours) {
        // Everybody's deadline and the timer of the line, and then everybody in the line: nobody is on the way.
        await fixture.manual.waitForSleepers(callers + 1)
        while budget.waiting(for: key) < callers { await Task.yield() }
        fixture.manual.advance(by: .milliseconds(250))
      }
      group.cancelAll()
    }
    let all = arrivals.all.filter { $0 < .seconds(3600 * hours) }
    let cap = 2880
    var first = 0
    for last in all.indices {
      while all[last] - all[first] >= .seconds(3600) { first += 1 }
      guard last - first < cap else {
        Issue.record("more than \(cap) requests in the hour that ends at \(all[last])")
        return
      }
    }
    for hour in 0..<hours {
      let from = Duration.seconds(3600 * hour)
      let used = all.count { $0 >= from && $0 < from + .seconds(3600) }
      #expect(Double(used) >= Double(cap) * 0.95, "hour \(hour)")
    }
  }
}
