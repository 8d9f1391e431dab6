import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct WorldRenewalsTests {
  private let day = Duration.seconds(86_400)

  @Test func `a subscription renews shortly before its period ends, and the next period follows directly`() throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, at: .newYear)
    let end = try world.subscription(original).expires
    try world.run(until: end)
    #expect(world.told() == ["SUBSCRIBED/INITIAL_BUY", "DID_RENEW"])
    let record = try #require(world.withState { $0.realms[0].log.records.last })
    guard case .purchase(let transaction, let subscription, _) = record.facts.content else {
      Issue.record("no purchase")
      return
    }
    #expect(transaction.purchaseDate == end)
    #expect(transaction.purchaseDate >= record.facts.signedDate)
    #expect(transaction.purchaseDate - record.facts.signedDate <= WorldState.longestLead)
    #expect(transaction.reason == .renewal)
    #expect(transaction.originalId == original)
    #expect(subscription?.expires == transaction.expires)
  }

  @Test func `billing failure, end of grace and end of retry each happen in time`() throws {
    let world = Rehearsal.world(behaviour: Behaviour(billingFails: 1, recovers: 0))
    let original = try world.buy(Rehearsal.graceful, at: .newYear)
    let end = try world.subscription(original).expires
    try world.run(until: end)
    #expect(try world.subscription(original).status == .billingGracePeriod)
    try world.run(until: end + day * 16 - .milliseconds(1))
    #expect(world.told().count == 2)
    try world.run(until: end + day * 16)
    #expect(try world.subscription(original).status == .billingRetry)
    try world.run(until: end + day * 60)
    #expect(
      world.told() == [
        "SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW/GRACE_PERIOD", "GRACE_PERIOD_EXPIRED", "EXPIRED/BILLING_RETRY",
      ])
    #expect(try world.subscription(original).status == .expired)
    #expect(world.nextEvent == nil)
  }

  @Test func `with a grace period a billing failure is sent before the period ends`() throws {
    let world = Rehearsal.world(behaviour: Behaviour(billingFails: 1, recovers: 0))
    let original = try world.buy(Rehearsal.graceful, at: .newYear)
    let end = try world.subscription(original).expires
    try world.run(until: end - .milliseconds(1))
    #expect(world.told().last == "DID_FAIL_TO_RENEW/GRACE_PERIOD")
    let subscription = try world.subscription(original)
    #expect(subscription.status == .billingGracePeriod)
    #expect(subscription.expires == end && subscription.graceExpires == end + day * 16)
    let without = try world.buy(Rehearsal.monthly, at: end)
    #expect(throws: WorldError.self) {
      try world.withState { try $0.failToRenew(without, endingIn: day, at: end) }
    }
  }

  @Test func `an extension neither repeats nor reverts the customer's actions in the period`() throws {
    let world = Rehearsal.world(behaviour: Behaviour(cancels: 1))
    let early = try world.buy(Rehearsal.monthly, at: .newYear)
    let late = try world.buy(Rehearsal.monthly, at: .newYear)
    // One is extended before its customer cancels, and the other after its customer resubscribed.
    try world.withState { _ = try $0.extendRenewal(early, byDays: 30, at: .newYear + day) }
    let off = "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED"
    try world.run(until: .newYear + day * 30)
    #expect(world.told().filter { $0 == off }.count == 2)
    try world.withState { state in
      try state.setRenewal(late, isOn: true, at: .newYear + day * 30)
      _ = try state.extendRenewal(late, byDays: 30, at: .newYear + day * 30)
    }
    try world.run(until: .newYear + day * 55)
    #expect(world.told().filter { $0 == off }.count == 2)
    #expect(try world.subscription(late).renews)
  }

  @Test func `without a grace period service ends with the period, and a recovery starts a new one`() throws {
    let world = Rehearsal.world(behaviour: Behaviour(billingFails: 1, recovers: 1, recoversWithin: .seconds(86_400)))
    let original = try world.buy(Rehearsal.monthly, at: .newYear)
    let end = try world.subscription(original).expires
    try world.run(until: end + day)
    #expect(world.told() == ["SUBSCRIBED/INITIAL_BUY", "DID_FAIL_TO_RENEW", "DID_RENEW/BILLING_RECOVERY"])
    let subscription = try world.subscription(original)
    #expect(subscription.status == .active)
    #expect(subscription.retryEnds == nil && subscription.expirationIntent == nil)
    let transaction = try #require(world.withState { $0.transactions[subscription.transactionId] })
    #expect(transaction.purchaseDate > end)
  }

  @Test func `a customer who cancels does so after the recovery of the period's billing`() throws {
    let world = Rehearsal.world(
      behaviour: Behaviour(billingFails: 0.5, recovers: 1, recoversWithin: day * 15, cancels: 0.5))
    for number in 0..<200 { try world.buy(Rehearsal.graceful, at: .newYear + .seconds(number * 60)) }
    try world.run(until: .newYear + day * 100)
    let dates = world.withState { $0.realms[0].log.records.map(\.facts.signedDate) }
    #expect(world.told().contains("DID_RENEW/BILLING_RECOVERY"))
    #expect(zip(dates, dates.dropFirst()).allSatisfy { $0 <= $1 })
  }

  @Test func `disabling renewal expires at the end, and enabling it again renews`() throws {
    let world = Rehearsal.world()
    let leaves = try world.buy(Rehearsal.monthly, at: .newYear)
    let stays = try world.buy(Rehearsal.monthly, at: .newYear)
    try world.withState { state in
      try state.setRenewal(leaves, isOn: false, at: .newYear + day)
      try state.setRenewal(stays, isOn: false, at: .newYear + day)
      try state.setRenewal(stays, isOn: true, at: .newYear + day * 2)
    }
    try world.run(until: .newYear + day * 32)
    #expect(try world.subscription(leaves).status == .expired)
    #expect(try world.subscription(stays).status == .active)
    #expect(world.told().filter { $0 == "EXPIRED/VOLUNTARY" }.count == 1)
    #expect(world.told().filter { $0 == "DID_RENEW" }.count == 1)
  }

  @Test func `a rejected price increase or a removed product ends subscriptions`() throws {
    let world = Rehearsal.world()
    let silent = try world.buy(Rehearsal.monthly, at: .newYear)
    let agreed = try world.buy(Rehearsal.monthly, at: .newYear)
    try world.buy(Rehearsal.graceful, at: .newYear)
    try world.withState { state in
      try state.announcePriceIncrease(silent, to: 12_990, needsConsent: true, at: .newYear)
      try state.announcePriceIncrease(agreed, to: 12_990, needsConsent: true, at: .newYear)
      try state.acceptPriceIncrease(agreed, at: .newYear)
      try state.setForSale(Rehearsal.graceful, in: Rehearsal.production, false)
    }
    try world.run(until: .newYear + day * 32)
    #expect(Set(world.told()).isSuperset(of: ["EXPIRED/PRICE_INCREASE", "EXPIRED/PRODUCT_NOT_FOR_SALE"]))
    let renewed = try world.subscription(agreed)
    #expect(world.withState { $0.transactions[renewed.transactionId]?.price } == 12_990)
  }

  @Test func `a downgrade waits for the renewal, an upgrade does not`() throws {
    let world = Rehearsal.world()
    let down = try world.buy(Rehearsal.yearly, at: .newYear)
    let up = try world.buy(Rehearsal.monthly, at: .newYear)
    let transaction = try world.withState { state in
      try state.changePlan(down, to: Rehearsal.monthly, at: .newYear + day)
      return try state.changePlan(up, to: Rehearsal.yearly, at: .newYear + day)
    }
    let products = Rehearsal.app.products
    #expect(products[try world.subscription(down).product].productId == Rehearsal.yearly)
    #expect(products[try world.subscription(down).nextProduct].productId == Rehearsal.monthly)
    #expect(products[try world.subscription(up).product].productId == Rehearsal.yearly)
    #expect(try world.subscription(up).transactionId == transaction)
    #expect(world.withState { $0.transactions[up]?.upgraded } == .newYear + day)
    try world.run(until: .newYear + day * 366)
    #expect(products[try world.subscription(down).product].productId == Rehearsal.monthly)
  }

  @Test func `a seed determines the history`() throws {
    func history(seed: UInt64) throws -> [String] {
      let world = Rehearsal.world(
        seed: seed, behaviour: Behaviour(billingFails: 0.2, recovers: 0.5, cancels: 0.1))
      for number in 0..<50 { try world.buy(Rehearsal.monthly, at: .newYear + .seconds(number * 60)) }
      try world.run(until: .newYear + day * 200)
      return world.withState { state in
        state.realms[0].log.records.map { "\($0.facts.kind) \($0.facts.uuid.text) \($0.facts.signedDate)" }
      }
    }
    let first = try history(seed: 5)
    #expect(first == (try history(seed: 5)))
    #expect(first != (try history(seed: 6)))
    #expect(first.count > 200)
  }

  @Test func `a customer keeps the newest transactions, including the current period`() throws {
    let world = Rehearsal.world(limits: WorldLimits(transactionsPerCustomer: 3))
    let year = try world.buy(Rehearsal.yearly, at: .newYear)
    let customer = try #require(world.withState { $0.transactions[year]?.customer })
    let coins = try world.withState { state in
      try (1...6).map { try state.purchase(Rehearsal.coins, by: customer, at: .newYear + day * $0) }
    }
    let kept = world.withState { $0.customers[customer].transactions }
    #expect(kept == [year] + coins.suffix(2))
    #expect(world.withState { $0.transactions.count } == 3)
  }
}
