import AppStore
import Clocks
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct TurnPatienceTests {
  private let manual = ManualClock()
  private let key = BudgetKey(bundleId: "com.example.app", environment: .production, endpoint: .getTransactionInfo)

  /// Turns a little more than a second apart, the first of which is taken.
  private func budget(part: Double = 1) async throws -> APIBudget {
    let budget = APIBudget(
      limits: RateLimits(productionPerSecond: [.getTransactionInfo: 1]), share: 1, part: part, clock: manual.clock)
    try await budget.acquire(key)
    return budget
  }

  /// The time a caller is told who is sent away; nil where it gets a turn.
  private func timeTold(_ budget: APIBudget, _ patience: TurnPatience) async throws -> Timestamp? {
    do throws(BudgetError) {
      try await budget.acquire(key, patience: patience)
      return nil
    } catch {
      guard case .tooLate(let turn?) = error else { throw error }
      return turn
    }
  }

  @Test func `those who are sent away are to come back one after the other, at the pace of turns`() async throws {
    let budget = try await budget()
    let foreseen = manual.clock.wallTime + (try #require(budget.delay(for: key)))
    var told: [Timestamp] = []
    for _ in 0..<1_000 { told.append(try #require(try await timeTold(budget, TurnPatience(atMost: .zero)))) }
    #expect(told.first == foreseen)
    for (earlier, later) in zip(told, told.dropFirst()).prefix(500) {
      #expect((.milliseconds(990)...Duration.milliseconds(1_010)).contains(later - earlier))
    }
    #expect(told.last == foreseen + APIBudget.farthestReturn, "no further, so that a budget that grows is used soon")
    // The line itself is as it was: nothing was kept for them.
    #expect(manual.clock.wallTime + (try #require(budget.delay(for: key))) == foreseen)
  }

  @Test func `a budget that grows forgets what it told`() async throws {
    let budget = try await budget(part: 0.5)
    for _ in 0..<100 { _ = try await timeTold(budget, TurnPatience(atMost: .zero)) }
    budget.setPart(1)
    let told = try #require(try await timeTold(budget, TurnPatience(atMost: .zero)))
    #expect(told - manual.clock.wallTime < .seconds(5))
  }

  @Test func `whoever has a turn at once is not asked whether it may wait`() async throws {
    let budget = try await budget()
    manual.advance(by: .seconds(2))
    let asked = Recorder<String>()
    let patience = TurnPatience {
      asked.add("begin")
      return false
    } end: {
      asked.add("end")
    }
    #expect(try await timeTold(budget, patience) == nil)
    #expect(asked.all.isEmpty)
    #expect(try await timeTold(budget, patience) != nil)
    #expect(asked.all == ["begin"], "a wait that did not begin does not end")
  }

  @Test func `a wait that began ends with its turn, and when it is given up`() async throws {
    let budget = try await budget()
    let ended = Recorder<Duration>()
    let patience = TurnPatience(atMost: .seconds(5)) {
      true
    } end: {
      ended.add(manual.clock.now.elapsed)
    }
    let first = Task { try await budget.acquire(key, patience: patience) }
    while budget.waiting(for: key) < 1 { await Task.yield() }
    let second = Task { try await budget.acquire(key, patience: patience) }
    while budget.waiting(for: key) < 2 { await Task.yield() }
    second.cancel()
    await #expect(throws: BudgetError.cancelled) { try await second.value }
    await manual.waitForSleepers(1)
    manual.advance(by: .milliseconds(1_001))
    try await first.value
    #expect(ended.all == [.zero, .milliseconds(1_001)])
  }

  @Test func `a pause sends away those in line who cannot wait as long, and keeps the others`() async throws {
    let budget = try await budget()
    let patient = Task { try await budget.acquire(key, patience: TurnPatience(atMost: .seconds(60))) }
    while budget.waiting(for: key) < 1 { await Task.yield() }
    let others = (0..<3).map { _ in Task { try await timeTold(budget, TurnPatience(atMost: .seconds(5))) } }
    while budget.waiting(for: key) < 4 { await Task.yield() }
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
