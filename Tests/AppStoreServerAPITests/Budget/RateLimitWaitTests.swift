import AppStore
import MillraceTime
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct RateLimitWaitTests {
  private let manual = ManualClock()
  private let key = BudgetKey(bundleId: "com.example.app", environment: .production, endpoint: .getTransactionInfo)

  /// Creates a budget with slots a little more than a second apart. The first one is taken.
  private func budget(part: Double = 1) async throws -> APIBudget {
    let budget = APIBudget(
      limits: RateLimits(productionPerSecond: [.getTransactionInfo: 1]), share: 1, part: part, clock: manual.clock)
    try await budget.acquire(key)
    return budget
  }

  /// The time at which a refused caller should return; nil if it gets a slot.
  private func timeTold(_ budget: APIBudget, _ patience: RateLimitWait) async throws -> Timestamp? {
    do throws(BudgetError) {
      try await budget.acquire(key, patience: patience)
      return nil
    } catch {
      guard case .tooLate(let turn?) = error else { throw error }
      return turn
    }
  }

  @Test func `refused callers are told to return one after the other, at the rate of the slots`() async throws {
    let budget = try await budget()
    let foreseen = manual.clock.wallTime + (try #require(budget.delay(for: key)))
    var told: [Timestamp] = []
    for _ in 0..<1_000 { told.append(try #require(try await timeTold(budget, RateLimitWait(atMost: .zero)))) }
    #expect(told.first == foreseen)
    for (earlier, later) in zip(told, told.dropFirst()).prefix(500) {
      #expect((.milliseconds(990)...Duration.milliseconds(1_010)).contains(later - earlier))
    }
    #expect(told.last == foreseen + APIBudget.farthestReturn, "no further, so a larger budget is used soon")
    // The line is unchanged: refused callers reserve nothing.
    #expect(manual.clock.wallTime + (try #require(budget.delay(for: key))) == foreseen)
  }

  @Test func `a larger budget forgets earlier return times`() async throws {
    let budget = try await budget(part: 0.5)
    for _ in 0..<100 { _ = try await timeTold(budget, RateLimitWait(atMost: .zero)) }
    budget.setPart(1)
    let told = try #require(try await timeTold(budget, RateLimitWait(atMost: .zero)))
    #expect(told - manual.clock.wallTime < .seconds(5))
  }

  @Test func `a caller with an immediate slot is not asked whether it may wait`() async throws {
    let budget = try await budget()
    manual.advance(by: .seconds(2))
    let asked = Recorder<String>()
    let patience = RateLimitWait {
      asked.add("begin")
      return false
    } end: {
      asked.add("end")
    }
    #expect(try await timeTold(budget, patience) == nil)
    #expect(asked.all.isEmpty)
    #expect(try await timeTold(budget, patience) != nil)
    #expect(asked.all == ["begin"], "a wait that was refused does not end")
  }

  @Test func `a wait ends with its slot or its cancellation`() async throws {
    let budget = try await budget()
    let ended = Recorder<Duration>()
    let patience = RateLimitWait(atMost: .seconds(5)) {
      true
    } end: {
      ended.add(manual.clock.now.elapsed)
    }
    let first = Task { try await budget.acquire(key, patience: patience) }
    try await waitUntil(budget.waiting(for: key) >= 1)
    let second = Task { try await budget.acquire(key, patience: patience) }
    try await waitUntil(budget.waiting(for: key) >= 2)
    second.cancel()
    await #expect(throws: BudgetError.cancelled) { try await second.value }
    await manual.waitForSleepers(1)
    manual.advance(by: .milliseconds(1_001))
    try await first.value
    #expect(ended.all == [.zero, .milliseconds(1_001)])
  }

  @Test func `a pause refuses waiting callers that cannot wait as long, and keeps the others`() async throws {
    let budget = try await budget()
    let patient = Task { try await budget.acquire(key, patience: RateLimitWait(atMost: .seconds(60))) }
    try await waitUntil(budget.waiting(for: key) >= 1)
    let others = (0..<3).map { _ in Task { try await timeTold(budget, RateLimitWait(atMost: .seconds(5))) } }
    try await waitUntil(budget.waiting(for: key) >= 4)
    let until = manual.clock.wallTime + .seconds(30)
    budget.pause(BudgetPause(key, until: until))
    var told: [Timestamp] = []
    for task in others { told.append(try #require(try await task.value)) }
    #expect(budget.waiting(for: key) == 1)
    #expect(told.allSatisfy { $0 > until })
    #expect(Set(told).count == 3)
    manual.advance(by: .seconds(30))
    try await patient.value
  }
}
