// Tests that records that wait for a rate-limit slot do not block other records.

import AppStore
import AppStoreServerAPI
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct TurnsAtAppleTests {
  /// Handles records of app A when they get a rate-limit slot, and other records at once.
  private func handler(_ fleet: WorkerFleet, _ budget: APIBudget) -> FleetHandler {
    FleetHandler(Book()) { item, recorder in
      guard item.group == "com.example.a" else { return try await FleetHandler.answer(item, recorder) }
      let limit = RateLimitWaitLimit.limit(
        isReturning: item.due != nil, shortestDelay: fleet.policy.schedule.shortest, left: nil)
      let patience = RateLimitWait(atMost: limit) {
        await recorder.beginWaiting()
      } end: {
        await recorder.endWaiting()
      }
      do throws(BudgetError) {
        try await budget.acquire(
          BudgetKey(bundleId: item.group, environment: .production, endpoint: .extendSubscriptionRenewalDate),
          patience: patience)
      } catch {
        guard case .tooLate(let turn?) = error else { throw CancellationError() }
        throw Turn(until: turn)
      }
      return try await FleetHandler.answer(item, recorder)
    }
  }

  private func budget(_ fleet: WorkerFleet, perSecond: Double) -> APIBudget {
    APIBudget(
      limits: RateLimits(productionPerSecond: [.extendSubscriptionRenewalDate: perSecond]), share: 1,
      clock: fleet.time.clock)
  }

  @Test(arguments: [0.8, 16])
  func `a thousand records that wait for rate-limit slots do not block another app`(
    perSecond: Double
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1)
    for number in 0..<1_000 { try fleet.put("a\(number)", key: "a\(number)") }
    try fleet.put("b0", key: "b0", app: "com.example.b")
    let process = fleet.start("p", handler(fleet, budget(fleet, perSecond: perSecond)))
    let first = await fleet.until(within: .seconds(60), step: .milliseconds(5)) { fleet.answered().contains("b0") }
    #expect(try #require(first) < .seconds(10))
    let delayed = fleet.topics.retries.map { fleet.log.records(in: $0).count }.reduce(0, +)
    #expect(delayed >= 700, "too few records were delayed: \(delayed)")
    #expect(
      fleet.log.records(in: fleet.topics.retries[0]).allSatisfy { DeliveryHistory($0).attempt == 0 }, "counted a wait")
    // The delayed records return while others arrive.
    for number in 1...10 {
      try fleet.put("b\(number)", key: "b\(number)", app: "com.example.b")
      let wait = await fleet.until(within: .seconds(60)) { fleet.answered().contains("b\(number)") }
      #expect(try #require(wait) < .seconds(10), "b\(number)")
      fleet.time.advance(by: .seconds(1))
    }
    #expect(fleet.dead().isEmpty)
    await process.crash()
  }

  @Test func `a lane that drains does not wait for rate-limit slots`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start("p", handler(fleet, budget(fleet, perSecond: 0.5)))
    for number in 0..<4 { try fleet.put("a\(number)", key: "a\(number)") }
    #expect(await fleet.until { fleet.answered().count == 1 } != nil)
    for number in 4..<8 { try fleet.put("a\(number)", key: "a\(number)") }
    await process.leave()
    let end = try #require(await fleet.end(of: process))
    #expect(end.time < .seconds(10))
    #expect(end.error == nil)
  }
}
