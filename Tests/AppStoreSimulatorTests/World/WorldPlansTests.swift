// Changes between plans, and the transactions after them. The names in brackets are Apple's pages.

import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct WorldPlansTests {
  private let day = Duration.seconds(86_400)
  private static let offer = Offer(
    identifier: "HALF", type: .promotionalOffer, discountType: .payAsYouGo, period: SubscriptionPeriod(1, .month),
    price: 4_995)

  private func world() -> World {
    let app = SimulatedApp(
      bundleId: "com.example.app", appAppleId: 1,
      products: [
        Product(productId: "premium", level: 1, price: 19_990),
        Product(productId: "news", level: 2, price: 9_990, offers: [Self.offer]),
        Product(productId: "sports", level: 2, price: 8_990, offers: [Self.offer]),
        Product(productId: "sports.yearly", level: 2, period: SubscriptionPeriod(1, .year), price: 79_990),
        Product(productId: "basic", level: 3, price: 4_990),
        Product(productId: "coins", type: .consumable, group: nil, price: 990),
      ])
    return World(apps: [app], seed: 1, beginning: .newYear)
  }

  private func transaction(_ id: Int64, _ world: World) throws -> JWSTransactionDecodedPayload {
    let subject = try #require(world.withState { $0.subject(ofTransaction: id) })
    return JWSTransactionDecodedPayload(json: subject.transactionPayload(signedDate: .newYear))
  }

  private func renewal(_ original: Int64, _ world: World) throws -> JWSRenewalInfoDecodedPayload {
    let id = try world.subscription(original).transactionId
    let subject = try #require(world.withState { $0.subject(ofTransaction: id) })
    return JWSRenewalInfoDecodedPayload(json: try #require(subject.renewalPayload(signedDate: .newYear)))
  }

  static let changes: [(from: String, to: String, isImmediate: Bool)] = [
    ("news", "premium", true), ("news", "basic", false), ("news", "sports", true), ("sports", "news", true),
    ("news", "sports.yearly", false), ("sports.yearly", "news", false), ("sports.yearly", "premium", true),
    ("sports.yearly", "basic", false),
  ]

  /// [subtype: UPGRADE "or cross-graded to a subscription with the same duration", DOWNGRADE "with a different
  /// duration"; transactionReason]
  @Test(arguments: changes.indices)
  func `a cross-grade to the same duration is immediate, to another one it waits for the renewal`(index: Int) throws {
    let change = Self.changes[index]
    let world = world()
    let original = try world.buy(change.from, at: .newYear)
    try world.withState { _ = try $0.changePlan(original, to: change.to, at: .newYear + day) }
    #expect(world.told().last == "DID_CHANGE_RENEWAL_PREF/" + (change.isImmediate ? "UPGRADE" : "DOWNGRADE"))
    let present = try transaction(try world.subscription(original).transactionId, world)
    #expect(present.productId == (change.isImmediate ? change.to : change.from))
    #expect(try transaction(original, world).isUpgraded == (change.isImmediate ? true : nil))
    #expect(present.transactionReason == .purchase)
    #expect(try renewal(original, world).autoRenewProductId == change.to)
    try world.run(until: try world.subscription(original).expires)
    let renewed = try transaction(try world.subscription(original).transactionId, world)
    #expect(renewed.productId == change.to && renewed.transactionReason == .renewal)
  }

  @Test func `an offer for another plan follows the same rule`() throws {
    let world = world()
    let immediate = try world.buy("sports", at: .newYear)
    let later = try world.buy("premium", at: .newYear)
    let same = try world.buy("news", at: .newYear)
    try world.withState { state in
      for id in [immediate, later, same] { try state.redeemOffer("HALF", of: "news", for: id, at: .newYear + day) }
    }
    #expect(
      world.told().suffix(3) == ["OFFER_REDEEMED/UPGRADE", "OFFER_REDEEMED/DOWNGRADE", "OFFER_REDEEMED"])
    let present = try transaction(try world.subscription(immediate).transactionId, world)
    #expect(present.productId == "news" && present.offerIdentifier == "HALF" && present.price == 4_995)
  }

  /// [price: the quantity of a consumable, the discount of an offer; renewalPrice: the offer of the next period]
  @Test func `prices are for the whole quantity, and a renewal costs what the renewal info announced`() throws {
    let world = world()
    let coins = try world.withState { state in
      let customer = try state.addCustomer(to: 0, at: .newYear)
      return try state.purchase("coins", by: customer, quantity: 7, at: .newYear)
    }
    let bought = try transaction(coins, world)
    #expect(bought.quantity == 7 && bought.price == 6_930)
    let offered = try world.buy("news", at: .newYear)
    let increased = try world.buy("sports", at: .newYear)
    try world.withState { state in
      try state.redeemOffer("HALF", of: "news", for: offered, at: .newYear + day)
      try state.announcePriceIncrease(increased, to: 10_990, needsConsent: false, at: .newYear + day)
    }
    #expect(try renewal(offered, world).offerIdentifier == "HALF")
    var expected: [Int64: [Int64]] = [offered: [4_995, 9_990, 9_990], increased: [10_990, 10_990, 10_990]]
    for month in 1...3 as ClosedRange<Int64> {
      for id in [offered, increased] {
        #expect(try renewal(id, world).renewalPrice == expected[id]?.first, "\(id) before renewal \(month)")
      }
      try world.run(until: .newYear.adding(months: month))
      for id in [offered, increased] {
        let paid = try transaction(try world.subscription(id).transactionId, world)
        let price = expected[id]?.removeFirst()
        #expect(paid.price == price, "\(id) at renewal \(month)")
        #expect(paid.offerIdentifier == (id == offered && month == 1 ? "HALF" : nil))
      }
    }
  }

  /// [Set App Account Token: "the current renewal transaction and subsequent renewals, but it doesn't affect past
  /// transactions ... continues to apply if the customer upgrades, downgrades, or cross-grades"]
  @Test(arguments: ["premium", "basic", "sports", "sports.yearly"])
  func `an account token stays with a subscription across plan changes`(plan: String) throws {
    let world = world()
    let original = try world.buy("news", at: .newYear)
    try world.run(until: .newYear.adding(months: 1))
    let token = try #require(CompactUUID("b3c0c4a5-7c1d-4b1e-9f5e-0d6f6f3f2a11"))
    let second = try world.subscription(original).transactionId
    try world.withState { state in
      try state.setAppAccountToken(token, ofOriginal: original, at: .newYear + day * 40)
      try state.changePlan(original, to: plan, at: .newYear + day * 41)
    }
    try world.run(until: try world.subscription(original).expires)
    let last = try world.subscription(original).transactionId
    #expect(try transaction(last, world).productId == plan)
    #expect(try transaction(original, world).appAccountToken == nil)
    for id in [second, last] { #expect(try transaction(id, world).appAccountToken == token.text) }
    #expect(try renewal(original, world).appAccountToken == token.text)
  }

  /// [eligibleWinBackOfferIds: "with the best offer first"; none "in a Billing Grace Period or billing retry state"]
  @Test func `win-back offers are listed for customers who have left, the best first`() throws {
    func offer(_ id: String, _ price: Int64, months: Int64, _ type: OfferType = .winBackOffer) -> Offer {
      Offer(
        identifier: id, type: type, discountType: price == 0 ? .freeTrial : .payUpFront,
        period: SubscriptionPeriod(months, .month), price: price)
    }
    let offers = [
      offer("dear", 4_990, months: 3), offer("other", 0, months: 9, .offerCode), offer("b.free", 0, months: 1),
      offer("free.long", 0, months: 2), offer("a.free", 0, months: 1), offer("cheap", 990, months: 1),
    ]
    let app = SimulatedApp(
      bundleId: "com.example.app", appAppleId: 1,
      products: [
        Product(productId: "it", gracePeriod: day * 3, offers: offers), Product(productId: "that", group: "2"),
      ])
    let world = World(apps: [app], seed: 1, behaviour: Behaviour(recovers: 0), beginning: .newYear)
    let original = try world.buy("it", at: .newYear)
    #expect(try renewal(original, world).eligibleWinBackOfferIds == nil)
    try world.withState { try $0.failToRenew(original, at: .newYear + day) }
    #expect(try renewal(original, world).eligibleWinBackOfferIds == nil)
    try world.run(until: .newYear + day * 5)
    #expect(try world.subscription(original).status == .billingRetry)
    #expect(try renewal(original, world).eligibleWinBackOfferIds == nil)
    try world.withState { try $0.expire(original, .billingError, at: .newYear + day * 9) }
    #expect(
      try renewal(original, world).eligibleWinBackOfferIds == ["free.long", "a.free", "b.free", "cheap", "dear"])
    let without = try world.buy("that", at: .newYear)
    try world.withState { try $0.expire(without, .customerCancelled, at: .newYear + day) }
    #expect(try renewal(without, world).json["eligibleWinBackOfferIds"] == nil)
    try world.withState { state in
      let customer = try #require(state.transactions[original]?.customer)
      try state.purchase("it", by: customer, offer: "cheap", at: .newYear + day * 20)
    }
    let back = try transaction(try world.subscription(original).transactionId, world)
    #expect(back.offerType == .winBackOffer && back.offerIdentifier == "cheap" && back.price == 990)
    #expect(try renewal(original, world).eligibleWinBackOfferIds == nil)
  }
}
