import AppStore
import MillraceTime
import TestEnvironment
import Testing

@testable import AppStoreServerAPI

@Suite(.timeLimit(.minutes(15))) struct APIBudgetTests {
  private let manual = ManualClock()
  private let told = Recorder<BudgetPause>()
  private let key = BudgetKey(bundleId: "com.example.app", environment: .production, endpoint: .getTransactionInfo)

  /// One slot per second. The second one may be half a second early.
  private func budget(part: Double = 1, perSecond: Double = 1) -> APIBudget {
    let told = told
    return APIBudget(
      limits: RateLimits(productionPerSecond: [.getTransactionInfo: perSecond, .lookUpOrderId: perSecond]), share: 1,
      part: part, clock: manual.clock
    ) { told.add($0) }
  }

  private func error(_ body: () async throws(BudgetError) -> Void) async -> BudgetError? {
    do {
      try await body()
      return nil
    } catch {
      return error
    }
  }

  /// Returns when this many callers wait in line.
  private func inLine(_ count: Int, _ budget: APIBudget) async throws {
    try await waitUntil(budget.waiting(for: key) >= count)
  }

  @Test func `callers are served in order, each at its slot`() async throws {
    let budget = budget()
    try await budget.acquire(key)
    let served = Recorder<Int>()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for caller in 0..<3 {
        group.addTask {
          try await budget.acquire(self.key)
          served.add(caller)
        }
        try await inLine(caller + 1, budget)
      }
      for caller in 0..<3 {
        await manual.waitForSleepers(1)
        #expect(served.all == Array(0..<caller))
        manual.advance(by: .milliseconds(1_001))
        try await group.next()
      }
    }
    #expect(served.all == [0, 1, 2])
  }

  @Test func `a burst is at most one second's worth`() async throws {
    let budget = budget(perSecond: 5)
    for _ in 0..<5 { try await budget.acquire(key, before: manual.clock.now) }
    #expect(
      await error { () async throws(BudgetError) in try await budget.acquire(key, before: manual.clock.now) } != nil)
  }

  @Test func `a cancelled caller gives its place to the next`() async throws {
    let budget = budget()
    try await budget.acquire(key)
    let first = Task { try await budget.acquire(key) }
    try await inLine(1, budget)
    let second = Task { try await budget.acquire(key) }
    try await inLine(2, budget)
    first.cancel()
    #expect(await first.result.failure as? BudgetError == .cancelled)
    manual.advance(by: .milliseconds(1_001))
    try await second.value
    #expect(manual.clock.now.elapsed < .seconds(2))
  }

  @Test func `a caller that was cancelled before never waits in line`() async {
    let budget = budget()
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      try await budget.acquire(key)
    }
    task.cancel()
    #expect(await task.result.failure as? BudgetError == .cancelled)
    #expect(budget.delay(for: key) == .zero)
  }

  @Test func `a slot after the deadline is refused at once, with its time`() async throws {
    let budget = budget()
    try await budget.acquire(key)
    let now = manual.clock.now
    let refusal = await error { () async throws(BudgetError) in
      try await budget.acquire(key, before: now.advanced(by: .milliseconds(100)))
    }
    let delay = try #require(budget.delay(for: key))
    #expect(delay > .milliseconds(100))
    #expect(refusal == .tooLate(turn: manual.clock.wallTime + delay))
  }

  @Test func `other endpoints, environments and apps have their own budgets`() async throws {
    let budget = budget()
    try await budget.acquire(key)
    #expect(try #require(budget.delay(for: key)) > .zero)
    for other in [
      BudgetKey(bundleId: "com.example.other", environment: .production, endpoint: .getTransactionInfo),
      BudgetKey(bundleId: "com.example.app", environment: .sandbox, endpoint: .getTransactionInfo),
      BudgetKey(bundleId: "com.example.app", environment: .production, endpoint: .lookUpOrderId),
    ] {
      #expect(budget.delay(for: other) == .zero, "\(other)")
    }
  }

  @Test func `a 429 pauses its budget until the given time, and is published once`() async throws {
    let budget = budget()
    let until = manual.clock.wallTime + .seconds(90)
    #expect(budget.limitReached(key, retryAt: until) == until)
    #expect(told.all == [BudgetPause(key, until: until)])
    #expect(budget.delay(for: key) == .seconds(90))
    #expect(budget.pause(of: key) == BudgetPause(key, until: until))
    // Calls in progress get the same 429. Only a later end is published.
    for again in [until, until - .seconds(1)] { #expect(budget.limitReached(key, retryAt: again) == until) }
    #expect(told.all.count == 1)
    let later = until + .seconds(1)
    #expect(budget.limitReached(key, retryAt: later) == later)
    #expect(told.all.count == 2 && told.all.last == BudgetPause(key, until: later))
    #expect(budget.pause(of: key) == BudgetPause(key, until: later))
    manual.advance(by: .seconds(91))
    #expect(budget.delay(for: key) == .zero)
    #expect(budget.pause(of: key) == nil)
    try await budget.acquire(key, before: manual.clock.now)
  }

  @Test func `a 429 without a future time also pauses the budget`() {
    let budget = budget()
    let now = manual.clock.wallTime
    #expect(budget.limitReached(key, retryAt: nil) == now + .seconds(60))
    // The longer pause applies.
    #expect(budget.limitReached(key, retryAt: now) == now + .seconds(60))
    #expect(budget.delay(for: key) == .seconds(60))
  }

  @Test func `a pause from another process applies and is not published again`() {
    let budget = budget()
    budget.pause(BudgetPause(key, until: manual.clock.wallTime + .seconds(30)))
    #expect(budget.delay(for: key) == .seconds(30))
    budget.pause(BudgetPause(key, until: manual.clock.wallTime - .seconds(30)))
    #expect(budget.delay(for: key) == .seconds(30))
    #expect(told.all.isEmpty)
    budget.pause(BudgetPause(key, until: Timestamp(millisecondsSince1970: .max)))
    #expect(budget.delay(for: key) == RetryAfter.horizon)
  }

  @Test func `a pause delays callers that already wait`() async throws {
    let budget = budget()
    try await budget.acquire(key)
    let served = Recorder<Duration>()
    let waiting = Task {
      try await budget.acquire(key)
      served.add(manual.clock.now.elapsed)
    }
    try await inLine(1, budget)
    budget.pause(BudgetPause(key, until: manual.clock.wallTime + .seconds(10)))
    await manual.waitForSleepers(1)
    manual.advance(by: .seconds(9))
    #expect(budget.delay(for: key) ?? .zero > .seconds(1))
    #expect(served.all.isEmpty)
    manual.advance(by: .seconds(1))
    try await waiting.value
    #expect(served.all == [.seconds(10)])
  }

  @Test func `a new part applies to waiting callers, and with no part they wait`() async throws {
    let budget = budget(part: 0)
    #expect(budget.delay(for: key) == nil)
    let refusal = await error { () async throws(BudgetError) in
      try await budget.acquire(key, before: manual.clock.now.advanced(by: .seconds(1_000_000)))
    }
    #expect(refusal == .tooLate(turn: nil))
    let entered = AsyncStream<Void>.makeStream()
    let waiting = Task {
      entered.continuation.yield()
      try await budget.acquire(key)
    }
    for await _ in entered.stream { break }
    budget.setPart(0.5)
    try await waiting.value
  }

  @Test func `a smaller part slows waiting callers down`() async throws {
    let budget = budget()
    try await budget.acquire(key)
    let waiting = (1...2).map { _ in Task { try await budget.acquire(key) } }
    try await inLine(2, budget)
    budget.setPart(0.1)
    await manual.waitForSleepers()
    for left in [1, 0] {
      let turn = try #require(manual.nextDeadline)
      manual.advance(by: turn - manual.clock.now.elapsed)
      try await waitUntil(budget.waiting(for: key) <= left)
      if left > 0 { await manual.waitForSleepers() }
    }
    for task in waiting { try await task.value }
    // At the old rate it would have been two seconds.
    #expect(manual.clock.now.elapsed > .seconds(9))
  }

  @Test(
    arguments: [
      (.production, 1, 1, 100), (.sandbox, 1, 1, 10), (.production, 0.8, 1, 80), (.sandbox, 0.8, 1, 8),
      (.production, 0.8, 0.25, 20), (.sandbox, 0.8, 0.5, 4), (.production, 7, 7, 100), (.production, -1, 1, 0),
    ] as [(AppStoreEnvironment, Double, Double, Int)])
  func `the rate is limit times share times part, and a tenth of it in the sandbox`(
    environment: AppStoreEnvironment, share: Double, part: Double, perSecond: Int
  ) async throws {
    let budget = APIBudget(
      limits: RateLimits(productionPerSecond: [.lookUpOrderId: 100]), share: share, part: part, clock: manual.clock)
    let key = BudgetKey(bundleId: "com.example.app", environment: environment, endpoint: .lookUpOrderId)
    var turns = 0
    while budget.delay(for: key) == .zero {
      try await budget.acquire(key)
      turns += 1
    }
    #expect(turns == perSecond)
    let use = budget.use().first
    #expect(use.map { abs($0.perSecond - Double(perSecond)) < 1e-9 && $0.taken == turns } ?? (turns == 0))
  }

  @Test func `constant demand uses at least 95 % of every hour, and never more than all of it`() async throws {
    let budget = budget(perSecond: 0.2)
    let given = Recorder<Duration>()
    let demand = Task {
      while true {
        try await budget.acquire(key)
        given.add(manual.clock.now.elapsed)
      }
    }
    while manual.clock.now.elapsed < .seconds(3 * 3600) {
      // When a timer runs, the caller waits in line again and its slot is recorded.
      await manual.waitForSleepers(1)
      manual.advance(by: .milliseconds(500))
    }
    demand.cancel()
    _ = await demand.result
    for (hour, used) in given.all.byHour(3).enumerated() { #expect((684...720).contains(used), "hour \(hour)") }
  }
}

extension Result {
  fileprivate var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}
