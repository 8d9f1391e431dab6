import AppStore
import Testing

@testable import AppStoreSimulator

/// A plan as a reference type, because expectations cannot call mutating methods.
private final class Plan {
  private var plan: FaultPlan

  init(_ faults: [Fault] = [], seed: UInt64 = 0) { plan = FaultPlan(faults, seed: seed) }

  var struck: [Int] { plan.entries.map(\.struck) }
  func add(_ fault: Fault) -> Int { plan.add(fault) }
  func remove(_ id: Int) -> Bool { plan.remove(id) }

  func decide(
    _ endpoint: SimulatedEndpoint = .getTransactionInfo, app: String? = "a",
    _ environment: AppStoreEnvironment = .production, at seconds: Int = 0
  ) -> FaultPlan.Impact {
    plan.decide(endpoint, bundleId: app, environment: environment, now: .newYear + .seconds(seconds))
  }
}

@Suite struct FaultPlanTests {
  @Test func `a fault applies only to its endpoints`() {
    let plan = Plan([
      Fault(.unauthorized, endpoints: [.lookUpOrderId], bundleId: "a", environment: .production)
    ])
    #expect(plan.decide(.lookUpOrderId).effect == .unauthorized)
    #expect(plan.decide().effect == nil)
    #expect(plan.decide(.lookUpOrderId, app: "b").effect == nil)
    #expect(plan.decide(.lookUpOrderId, app: nil).effect == nil)
    #expect(plan.decide(.lookUpOrderId, .sandbox).effect == nil)
  }

  @Test func `a fault applies from its start until its end, exclusively`() {
    let plan = Plan([
      Fault(.connectionReset, from: .newYear + .seconds(10), until: .newYear + .seconds(20))
    ])
    let struck = [9, 10, 19, 20].map { plan.decide(at: $0).effect != nil }
    #expect(struck == [false, true, true, false])
  }

  @Test func `a count decreases with each affected request`() {
    let plan = Plan([Fault(.answerLost, endpoints: [.lookUpOrderId], count: 2)])
    _ = plan.decide()
    let struck = (0..<4).map { _ in plan.decide(.lookUpOrderId).effect != nil }
    #expect(struck == [true, true, false, false])
  }

  @Test func `latencies add up, and the first other fault applies`() {
    let plan = Plan([
      Fault(.latency(.seconds(1))), Fault(.unauthorized), Fault(.latency(.seconds(2))), Fault(.connectionReset),
    ])
    #expect(plan.decide() == FaultPlan.Impact(delay: .seconds(3), effect: .unauthorized))
    #expect(plan.struck == [1, 1, 1, 0])
  }

  @Test(arguments: [UInt64(1), 2, 3])
  func `a share affects about that part of the requests, reproducibly`(seed: UInt64) {
    func struck() -> [Bool] {
      let plan = Plan([Fault(.connectionReset, share: 0.25)], seed: seed)
      return (0..<2_000).map { _ in plan.decide().effect != nil }
    }
    let first = struck()
    #expect((400...600).contains(first.count { $0 }), "seed \(seed)")
    #expect(first == struck())
  }

  @Test func `finished faults are reported, the newest ones`() {
    let plan = Plan([Fault(.unauthorized, endpoints: [.lookUpOrderId])])
    for _ in 0..<(3 * FaultPlan.mostSpent) {
      _ = plan.add(Fault(.connectionReset, count: 1))
      #expect(plan.decide().effect == .connectionReset)
    }
    #expect(plan.decide().effect == nil)
    #expect(plan.struck == [0] + Array(repeating: 1, count: FaultPlan.mostSpent))
    #expect(plan.decide(.lookUpOrderId).effect == .unauthorized)
  }

  @Test func `a fault is removed by its number`() {
    let plan = Plan()
    let id = plan.add(Fault(.connectionReset))
    #expect(!plan.remove(id + 1))
    #expect(plan.remove(id))
    #expect(plan.decide().effect == nil)
  }
}
