import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct WorldFamilyTests {
  private let day = Duration.seconds(86_400)

  /// A purchase of a product, shared with the given number of members.
  private func shared(
    _ product: String = Rehearsal.monthly, with members: Int = 2, behaviour: Behaviour = Behaviour()
  ) throws -> (world: World, original: Int64, members: [Int64]) {
    let world = Rehearsal.world(behaviour: behaviour)
    let original = try world.buy(product, at: .newYear)
    let own = try world.withState { state in
      try (0..<members).map { try state.share(original, at: .newYear + day * (1 + $0)) }
    }
    return (world, original, own)
  }

  @Test func `a member's subscription ends with the purchaser's period and renews with it`() throws {
    let (world, original, members) = try shared()
    #expect(world.told() == Array(repeating: "SUBSCRIBED/INITIAL_BUY", count: 3))
    try world.run(until: .newYear + day * 100)
    #expect(world.told().filter { $0 == "DID_RENEW" }.count == 3 * 3)
    let purchaser = try world.subscription(original)
    for member in members {
      let own = try world.subscription(member)
      #expect(own.expires == purchaser.expires && own.ownership == .familyShared && own.status == .active)
      let transaction = try #require(world.withState { $0.transactions[own.transactionId] })
      #expect(transaction.expires == purchaser.expires && transaction.originalId == member)
    }
  }

  @Test func `disabled renewal, billing retry, grace period and expiry apply to every member`() throws {
    let (world, original, members) = try shared(
      Rehearsal.graceful, with: 1, behaviour: Behaviour(billingFails: 1, recovers: 0))
    try world.run(until: .newYear + day * 200)
    for type in ["DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY"] {
      #expect(world.told().filter { $0 == type }.count == 2, "\(type)")
    }
    #expect(try members.map { try world.subscription($0).status } == [.expired])
    #expect(world.nextEvent == nil)
    // Subscribing again shares the purchase again.
    try world.withState { state in
      let customer = try #require(state.transactions[original]?.customer)
      try state.purchase(Rehearsal.graceful, by: customer, at: .newYear + day * 210)
    }
    #expect(world.told().suffix(2) == ["SUBSCRIBED/RESUBSCRIBE", "SUBSCRIBED/RESUBSCRIBE"])
  }

  @Test func `a refund of the purchase sends REVOKE to every member, and nothing follows`() throws {
    let (world, original, members) = try shared()
    try world.withState { try $0.refund(original, at: .newYear + day * 5) }
    #expect(
      world.told().suffix(4) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "REFUND", "REVOKE", "REVOKE"])
    for member in members {
      #expect(try world.subscription(member).status == .revoked)
      #expect(world.withState { $0.transactions[member]?.revocation?.type } == .familyRevoke)
    }
    let count = world.told().count
    try world.run(until: .newYear + day * 100)
    #expect(world.told().count == count)
  }

  @Test func `a member who leaves the family gets no more notifications, and the others do`() throws {
    let (world, original, members) = try shared()
    try world.withState { try $0.revoke(members[0], at: .newYear + day * 5) }
    try world.withState { try $0.setRenewal(original, isOn: false, at: .newYear + day * 6) }
    #expect(
      world.told().suffix(3) == [
        "REVOKE", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED",
      ])
    #expect(try world.subscription(members[0]).status == .revoked)
    #expect(try world.subscription(members[1]).renews == false)
  }

  @Test func `an extension of the purchaser's subscription moves the family's dates`() throws {
    let (world, original, members) = try shared()
    _ = try world.withState { try $0.extendRenewal(original, byDays: 10, at: .newYear + day * 5) }
    #expect(world.told().suffix(3) == ["RENEWAL_EXTENDED", "RENEWAL_EXTENDED", "RENEWAL_EXTENDED"])
    let expires = try world.subscription(original).expires
    #expect(try members.map { try world.subscription($0).expires } == [expires, expires])
  }

  @Test func `consumables and shared purchases cannot be shared, and a family has six members`() throws {
    let (world, original, members) = try shared(with: 5)
    #expect(throws: WorldError.self) { _ = try world.withState { try $0.share(original, at: .newYear) } }
    #expect(throws: WorldError.self) { _ = try world.withState { try $0.share(members[0], at: .newYear) } }
    let coins = try world.buy(Rehearsal.coins, at: .newYear)
    #expect(throws: WorldError.self) { _ = try world.withState { try $0.share(coins, at: .newYear) } }
  }
}
