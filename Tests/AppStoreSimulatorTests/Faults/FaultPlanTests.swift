import AppStore
import Testing

@testable import AppStoreSimulator

/// A plan behind a reference, because expectations do not take what mutates.
private final class Plan {
  private var plan: FaultPlan

  init(_ faults: [Fault] = [], seed: UInt64 = 0) { plan = FaultPlan(faults, seed: seed) }

  var struck: [Int] { plan.entries.map(\.struck) }
  func add(_ fault: Fault) -> Int { plan.add(fault) }
  func remove(_ id: Int) -> Bool { plan.remove(id) }

  func decide(
    _ endpoint: APIEndpoint = .getTransactionInfo, app: String? = "a",
    _ environment: AppStoreEnvironment = .production, at seconds: Int = 0
  ) -> FaultPlan.Verdict {
    plan.decide(endpoint, bundleId: app, environment: environment, now: .newYear + .seconds(seconds))
  }
}

@Suite struct FaultPlanTests {
  @Test func `A fault strikes what it names and nothing else`() {
    let plan = Plan([
      Fault(.unauthorized, endpoints: [.lookUpOrderId], bundleId: "a", environment: .production)
    ])
    #expect(plan.decide(.lookUpOrderId).effect == .unauthorized)
    #expect(plan.decide().effect == nil)
    #expect(plan.decide(.lookUpOrderId, app: "b").effect == nil)
    #expect(plan.decide(.lookUpOrderId, app: nil).effect == nil)
    #expect(plan.decide(.lookUpOrderId, .sandbox).effect == nil)
  }

  @Test func `It strikes from its first moment until before its last`() {
    let plan = Plan([
      Fault(.connectionReset, from: .newYear + .seconds(10), until: .newYear + .seconds(20))
    ])
    let struck = [9, 10, 19, 20].map { plan.decide(at: $0).effect != nil }
    #expect(struck == [false, true, true, false])
  }

  @Test func `A count is used up by what it strikes`() {
    let plan = Plan([Fault(.answerLost, endpoints: [.lookUpOrderId], count: 2)])
    _ = plan.decide()
    let struck = (0..<4).map { _ in plan.decide(.lookUpOrderId).effect != nil }
    #expect(struck == [true, true, false, false])
  }

  @Test func `Latencies add up and the first other fault strikes`() {
    let plan = Plan([
      Fault(.latency(.seconds(1))), Fault(.unauthorized), Fault(.latency(.seconds(2))), Fault(.connectionReset),
    ])
    #expect(plan.decide() == FaultPlan.Verdict(delay: .seconds(3), effect: .unauthorized))
    #expect(plan.struck == [1, 1, 1, 0])
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `A share strikes about that part, the same each time`(seed: UInt64) {
    func struck() -> [Bool] {
      let plan = Plan([Fault(.connectionReset, share: 0.25)], seed: seed)
      return (0..<2_000).map { _ in plan.decide().effect != nil }
    }
    let first = struck()
    #expect((400...600).contains(first.count { $0 }), "seed \(seed)")
    #expect(first == struck())
  }

  @Test func `What can strike no more is reported, the newest of it`() {
    let plan = Plan([Fault(.unauthorized, endpoints: [.lookUpOrderId])])
    for _ in 0..<(3 * FaultPlan.mostSpent) {
      _ = plan.add(Fault(.connectionReset, count: 1))
      #expect(plan.decide().effect == .connectionReset)
    }
    #expect(plan.decide().effect == nil)
    #expect(plan.struck == [0] + Array(repeating: 1, count: FaultPlan.mostSpent))
    #expect(plan.decide(.lookUpOrderId).effect == .unauthorized)
  }

  @Test func `A fault is taken away by its number`() {
    let plan = Plan()
    let id = plan.add(Fault(.connectionReset))
    #expect(!plan.remove(id + 1))
    #expect(plan.remove(id))
    #expect(plan.decide().effect == nil)
  }
}
