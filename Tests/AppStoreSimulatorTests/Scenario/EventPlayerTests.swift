import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct EventPlayerTests {
  private let hour = Duration.seconds(3_600)

  private func settled(_ count: Int) throws -> World {
    let world = Rehearsal.world()
    try world.withState { state in
      try state.settle(
        Scenario.Population(
          bundleId: Rehearsal.app.bundleId, environment: .production, count: count, products: [Rehearsal.yearly],
          storefronts: ["USA", "DEU"]), at: .newYear)
    }
    return world
  }

  private func player(_ world: World, mostOver: Int = 1_000) -> EventPlayer {
    EventPlayer(
      world: world,
      customerAsks: { transaction, reason, now throws(WorldError) in
        _ = try world.withState { state throws(WorldError) in
          try state.requestRefund(transaction, reason: reason, at: now)
        }
      }, mostOver: mostOver)
  }

  @Test func `of finished manual events the newest are reported, of the scenario's all`() throws {
    let world = try settled(10)
    let player = player(world, mostOver: 3)
    player.schedule(ScenarioEvent("cancel", .setRenewal(isOn: false), spread: hour, count: .times(4)), origin: .newYear)
    for number in 0..<10 {
      player.schedule(ScenarioEvent("test \(number)", .test), origin: .newYear, isCaused: true)
    }
    player.schedule(ScenarioEvent("late", .test, after: hour), origin: .newYear, isCaused: true)
    try world.run(until: .newYear + hour / 2)
    #expect(player.outcomes.map(\.name) == ["cancel", "test 7", "test 8", "test 9", "late"])
    try world.run(until: .newYear + hour)
    #expect(player.outcomes.map(\.name) == ["cancel", "test 8", "test 9", "late"])
    #expect(player.outcomes.first?.done == 4)
  }

  @Test func `customers in billing retry return, to the same plan or another, and families grow`() throws {
    let world = try settled(3)
    let player = player(world)
    for (minutes, event) in [
      ScenarioEvent("share", .share, count: .times(2)),
      ScenarioEvent("expire", .expire(.customerCancelled), count: .times(2)),
      ScenarioEvent("resubscribe", .resubscribe(to: nil)),
      ScenarioEvent("resubscribe", .resubscribe(to: Rehearsal.monthly)),
    ].enumerated() {
      var event = event
      event.after = .seconds(60 * minutes)
      player.schedule(event, origin: .newYear)
    }
    try world.run(until: .newYear + hour)
    #expect(player.outcomes.allSatisfy { $0.done == $0.wanted && $0.problem == nil }, "\(player.outcomes)")
    #expect(world.told().filter { $0 == "SUBSCRIBED/INITIAL_BUY" }.count == 2)
    let causes = world.withState { state in
      state.realms[0].log.records.filter { $0.facts.kind.subtype == .resubscribe }.map(\.facts.cause)
    }
    #expect(causes.contains(.sameProduct) && causes.contains(.itself))
  }

  @Test func `initial purchases send no notifications, and their current periods extend beyond the start`()
    throws
  {
    let world = try settled(200)
    #expect(world.told().isEmpty)
    world.withState { state in
      #expect(state.subscriptions.count == 200)
      #expect(state.subscriptions.values.allSatisfy { $0.expires > .newYear && $0.status == .active })
      #expect(Set(state.customers.map(\.storefront)) == ["USA", "DEU"])
      #expect(state.transactions.values.allSatisfy { $0.purchaseDate <= .newYear })
    }
  }

  @Test func `an event is spread over its duration and affects the given number, each once`() throws {
    let world = try settled(100)
    let player = player(world)
    player.schedule(
      ScenarioEvent("requestRefund", .requestRefund(.legal), after: hour, spread: hour, count: .share(0.5)),
      origin: .newYear)
    try world.run(until: .newYear + hour * 1.5)
    func requests() -> Int { world.told().filter { $0 == "CONSUMPTION_REQUEST" }.count }
    let half = requests()
    #expect((24...26).contains(half))
    try world.run(until: .newYear + hour * 2)
    // Each request turns auto-renewal off.
    #expect(requests() == 50 && world.told().count == 100)
    #expect(world.withState { $0.refundRequests.count } == 50)
    #expect(player.outcomes == [EventOutcome(name: "requestRefund", wanted: 50, done: 50)])
  }

  @Test func `an event without matching customers reports that`() throws {
    let world = try settled(10)
    let player = player(world)
    player.schedule(ScenarioEvent("refund", .refund(percentage: 100_000), count: .times(25)), origin: .newYear)
    try world.run(until: .newYear)
    let outcome = try #require(player.outcomes.first)
    #expect(outcome.wanted == 25 && outcome.done == 10)
    #expect(outcome.problem?.contains("no customer") == true)
  }

  @Test func `storefront and product select the affected customers`() throws {
    let world = try settled(20)
    let player = player(world)
    var target = ScenarioEvent.Target()
    target.storefronts = ["DEU"]
    player.schedule(
      ScenarioEvent("cancel", .setRenewal(isOn: false), count: .times(20), target: target), origin: .newYear)
    target.productId = Rehearsal.coins
    player.schedule(ScenarioEvent("renew", .renew, target: target), origin: .newYear)
    try world.run(until: .newYear)
    #expect(player.outcomes.map(\.done) == [10, 0])
    world.withState { state in
      #expect(
        state.subscriptions.values.filter { !$0.renews }.allSatisfy {
          state.customers[$0.customer].storefront == "DEU"
        })
    }
  }

  @Test func `a change of behaviour ends with its event`() throws {
    let world = try settled(1)
    let player = player(world)
    player.schedule(
      ScenarioEvent("behave", .behave(Behaviour(billingFails: 1)), after: hour, spread: hour), origin: .newYear)
    try world.run(until: .newYear + hour)
    #expect(world.withState { $0.behaviour.billingFails } == 1)
    try world.run(until: .newYear + hour * 2)
    #expect(world.withState { $0.behaviour.billingFails } == 0)
  }

  @Test func `every kind can be sent by name`() throws {
    let world = Rehearsal.world()
    let player = player(world)
    for kind in SampleKind.all { player.schedule(ScenarioEvent("send", .send(kind)), origin: .newYear) }
    try world.run(until: .newYear)
    #expect(world.told().sorted() == SampleKind.all.map(\.description).sorted())
    #expect(player.outcomes.allSatisfy { $0.done == 1 && $0.problem == nil })
  }
}
