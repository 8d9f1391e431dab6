import AppStore
import MillraceTime
import Testing

@testable import AppStoreServerAPI

@Suite struct BudgetNewsTests {
  @Test func `many calls with the same 429 publish it once, and again if the pause is extended`() {
    let manual = ManualClock()
    let told = Recorder<BudgetPause>()
    let budget = APIBudget(
      limits: RateLimits(productionPerSecond: [.getTransactionInfo: 1]), share: 1, part: 1, clock: manual.clock
    ) { told.add($0) }
    let key = BudgetKey(bundleId: "com.example.app", environment: .production, endpoint: .getTransactionInfo)
    let (first, later) = (manual.clock.wallTime + .seconds(90), manual.clock.wallTime + .seconds(120))
    for until in [first, first, first, later, first, later] { _ = budget.limitReached(key, retryAt: until) }
    #expect(told.all == [BudgetPause(key, until: first), BudgetPause(key, until: later)])
  }
}
