import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct WorldRefundsTests {
  private let day = Duration.seconds(86_400)

  @Test func `a refund of the current period ends the subscription, and a reversal restores it`() throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, at: .newYear)
    let end = try world.subscription(original).expires
    try world.withState { try $0.refund(original, at: .newYear + day) }
    #expect(try world.subscription(original).status == .revoked)
    #expect(
      world.told() == ["SUBSCRIBED/INITIAL_BUY", "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "REFUND"])
    try world.withState { try $0.reverseRefund(original, at: .newYear + day * 2) }
    let subscription = try world.subscription(original)
    #expect(subscription.status == .active)
    #expect(subscription.expires == end)
    #expect(world.withState { $0.transactions[original]?.revocation } == nil)
    try world.run(until: end)
    #expect(world.told().last == "EXPIRED/VOLUNTARY")
  }

  @Test func `a refund of an earlier period leaves the subscription active`() throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, at: .newYear)
    try world.run(until: .newYear + day * 40)
    try world.withState { try $0.refund(original, percentage: 40_000, at: .newYear + day * 41) }
    #expect(try world.subscription(original).status == .active)
    let revocation = try #require(world.withState { $0.transactions[original]?.revocation })
    #expect(revocation.type == .refundProrated)
    #expect(revocation.percentage == 40_000)
  }

  @Test func `a request can be repeated, and each sends its own notification`() throws {
    let world = Rehearsal.world()
    let coins = try world.buy(Rehearsal.coins, at: .newYear)
    let uuids = try world.withState { state in
      try (1...3).map { try state.requestRefund(coins, at: .newYear + day * $0) }
    }
    #expect(Set(uuids.compactMap { $0 }).count == 3)
    #expect(world.withState { $0.refundRequests[coins]?.asked } == .newYear + day * 3)
    try world.withState { try $0.declineRefund(coins, at: .newYear + day * 4) }
    #expect(world.withState { $0.refundRequests.isEmpty })
    #expect(world.told().last == "REFUND_DECLINED")
  }

  /// [notificationType, DID_CHANGE_RENEWAL_STATUS: "the App Store turned off subscription auto-renewal after the customer
  /// requested a refund"]
  @Test func `auto-renewal ends with the request, and the refund says nothing more about it`() throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, at: .newYear)
    let member = try world.withState { try $0.share(original, at: .newYear) }
    try world.withState { state in
      try state.requestRefund(original, at: .newYear + day)
      try state.requestRefund(original, at: .newYear + day * 2)
    }
    let off = "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"
    #expect(world.told().dropFirst(2) == [off, off, "CONSUMPTION_REQUEST", "CONSUMPTION_REQUEST"])
    #expect(try !world.subscription(original).renews && !world.subscription(member).renews)
    try world.withState { try $0.refund(original, at: .newYear + day * 3) }
    #expect(world.told().suffix(3) == ["CONSUMPTION_REQUEST", "REFUND", "REVOKE"])
    let types = world.withState { state in state.realms[0].log.records.map { state.typesV1(of: $0.facts) } }
    #expect(types.suffix(2) == [[.cancel], [.revoke]])
    #expect(types[2] == [.didChangeRenewalStatus])
  }

  @Test func `a request for an earlier period or for an ended subscription leaves auto-renewal alone`() throws {
    let world = Rehearsal.world()
    let earlier = try world.buy(Rehearsal.monthly, at: .newYear)
    let ended = try world.buy(Rehearsal.monthly, at: .newYear + day * 20)
    try world.run(until: .newYear + day * 40)
    try world.withState { state in
      try state.expire(ended, .other, at: .newYear + day * 40)
      try state.requestRefund(earlier, at: .newYear + day * 41)
      try state.requestRefund(ended, at: .newYear + day * 41)
    }
    #expect(world.told().suffix(3) == ["EXPIRED", "CONSUMPTION_REQUEST", "CONSUMPTION_REQUEST"])
    #expect(try world.subscription(earlier).renews)
  }

  static let reasons: [(ConsumptionRequestReason, RevocationReason?, RevocationReason)] = [
    (.fulfillmentIssue, nil, .refundedDueToIssue), (.unintendedPurchase, nil, .refundedForOtherReason),
    (.legal, .refundedDueToIssue, .refundedDueToIssue),
    (.fulfillmentIssue, .refundedForOtherReason, .refundedForOtherReason),
  ]

  /// [revocationReason: "an actual or perceived issue within your app"; of a family "matches the value of the purchaser's
  /// revocation reason"]
  @Test(arguments: reasons)
  func `a refund has a reason, which family members follow`(
    request: ConsumptionRequestReason, given: RevocationReason?, expected: RevocationReason
  ) throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, at: .newYear)
    let member = try world.withState { try $0.share(original, at: .newYear) }
    try world.withState { state in
      try state.requestRefund(original, reason: request, at: .newYear + day)
      try state.refund(original, reason: given, at: .newYear + day * 2)
    }
    for id in [original, member] {
      let subject = try #require(world.withState { $0.subject(ofTransaction: id) })
      let transaction = JWSTransactionDecodedPayload(json: subject.transactionPayload(signedDate: .newYear))
      #expect(transaction.revocationReason == expected)
    }
    // A member who leaves the family has the reason 0.
    let leaver = try world.withState { state in
      let other = try state.purchase(
        Rehearsal.monthly, by: state.addCustomer(to: Rehearsal.production, at: .newYear), at: .newYear)
      let member = try state.share(other, at: .newYear)
      try state.revoke(member, at: .newYear + day)
      return member
    }
    #expect(world.withState { $0.transactions[leaver]?.revocation?.reason } == .refundedForOtherReason)
  }

  @Test(arguments: ProductType.allKnown)
  func `Apple sends a consumption request for a refund of any product`(type: ProductType) throws {
    let app = SimulatedApp(
      bundleId: "com.example.app", appAppleId: 1,
      products: [Product(productId: "it", type: type, group: type == .autoRenewableSubscription ? "1" : nil)])
    let world = World(apps: [app], seed: 1, beginning: .newYear)
    let id = try world.buy("it", at: .newYear)
    _ = try world.withState { try $0.requestRefund(id, at: .newYear) }
    #expect(world.told().last == "CONSUMPTION_REQUEST")
    #expect(world.told().contains { $0.hasSuffix("DISABLED") } == (type == .autoRenewableSubscription))
    let types = world.withState { state in state.realms[0].log.records.last.map { state.typesV1(of: $0.facts) } }
    #expect(types == (type == .consumable ? [.consumptionRequest] : []))
  }

  @Test func `only a shared purchase can be revoked, and only once`() throws {
    let world = Rehearsal.world()
    let bought = try world.buy(Rehearsal.monthly, at: .newYear)
    #expect(throws: WorldError.self) { try world.withState { try $0.revoke(bought, at: .newYear) } }
    let shared = try world.withState { state in
      let customer = try state.addCustomer(to: Rehearsal.production, at: .newYear)
      return try state.purchase(Rehearsal.monthly, by: customer, ownership: .familyShared, at: .newYear)
    }
    try world.withState { try $0.revoke(shared, at: .newYear + day) }
    #expect(throws: WorldError.self) { try world.withState { try $0.revoke(shared, at: .newYear + day) } }
    #expect(try world.subscription(shared).status == .revoked)
    #expect(world.told().last == "REVOKE")
  }

  @Test func `the error for an unknown purchase names it`() {
    let world = Rehearsal.world()
    #expect(throws: WorldError.noSuchTransaction(42)) { try world.withState { try $0.refund(42, at: .newYear) } }
    #expect(throws: WorldError.noSuchTransaction(42)) { try world.withState { try $0.renew(42, at: .newYear) } }
  }
}
