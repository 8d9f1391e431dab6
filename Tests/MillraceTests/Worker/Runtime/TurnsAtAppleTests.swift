// Records that wait for their turn at Apple, and who is held up by them.

import AppStore
import AppStoreServerAPI
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct TurnsAtAppleTests {
  private struct Turn: ClassifiedFailure {
    var until: Timestamp
    var disposition: FailureDisposition { .wait(until: until) }
  }

  /// Answers what needs no turn at once, and app A's records when they have theirs.
  private func handler(_ mill: Mill, _ budget: APIBudget) -> MillHandler {
    MillHandler(Book()) { item, journal in
      guard item.group == "com.example.a" else { return try await MillHandler.answer(item, journal) }
      let limit = TurnWait.limit(
        isReturning: item.due != nil, shortestDelay: mill.policy.schedule.shortest, left: nil)
      let patience = TurnPatience(atMost: limit) {
        await journal.beginWaiting()
      } end: {
        await journal.endWaiting()
      }
      do throws(BudgetError) {
        try await budget.acquire(
          BudgetKey(bundleId: item.group, environment: .production, endpoint: .extendSubscriptionRenewalDate),
          patience: patience)
      } catch {
        guard case .tooLate(let turn?) = error else { throw CancellationError() }
        throw Turn(until: turn)
      }
      return try await MillHandler.answer(item, journal)
    }
  }

  private func budget(_ mill: Mill, perSecond: Double) -> APIBudget {
    APIBudget(
      limits: RateLimits(productionPerSecond: [.extendSubscriptionRenewalDate: perSecond]), share: 1,
      clock: mill.time.clock)
  }

  @Test(arguments: [0.8, 16])
  func `an app is served although a thousand records of another stand before it and wait for their turns`(
    perSecond: Double
  ) async throws {
    let mill = try Mill(lanes: 1)
    for number in 0..<1_000 { try mill.put("a\(number)", key: "a\(number)") }
    try mill.put("b0", key: "b0", app: "com.example.b")
    let process = mill.start("p", handler(mill, budget(mill, perSecond: perSecond)))
    let first = await mill.until(within: .seconds(60), step: .milliseconds(5)) { mill.answered().contains("b0") }
    #expect(try #require(first) < .seconds(10))
    let parked = mill.topics.retries.map { mill.log.records(in: $0).count }.reduce(0, +)
    #expect(parked >= 700, "they left the lane: \(parked)")
    #expect(mill.log.records(in: mill.topics.retries[0]).allSatisfy { Provenance($0).attempt == 0 }, "no attempt")
    // They come back while others arrive.
    for number in 1...10 {
      try mill.put("b\(number)", key: "b\(number)", app: "com.example.b")
      let wait = await mill.until(within: .seconds(60)) { mill.answered().contains("b\(number)") }
      #expect(try #require(wait) < .seconds(10), "b\(number)")
      mill.time.advance(by: .seconds(1))
    }
    #expect(mill.dead().isEmpty)
    await process.crash()
  }

  @Test func `a lane that is handed over does not wait for turns`() async throws {
    let mill = try Mill(lanes: 1)
    let process = mill.start("p", handler(mill, budget(mill, perSecond: 0.5)))
    for number in 0..<4 { try mill.put("a\(number)", key: "a\(number)") }
    #expect(await mill.until { mill.answered().count == 1 } != nil)
    for number in 4..<8 { try mill.put("a\(number)", key: "a\(number)") }
    await process.leave()
    let end = try #require(await mill.end(of: process))
    #expect(end.time < .seconds(10))
    #expect(end.error == nil)
  }
}
