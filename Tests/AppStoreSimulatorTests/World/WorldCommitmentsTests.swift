// Commitments: twelve months that are billed each month, with what API 1.21 says about them.

import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct WorldCommitmentsTests {
  private static let committed = "committed"
  private static let yearly = "yearly"
  private let day = Duration.seconds(86_400)

  private func world(_ behaviour: Behaviour = Behaviour(), gracePeriod: Duration? = nil) -> World {
    let app = SimulatedApp(
      bundleId: "com.example.app", appAppleId: 1,
      products: [
        Product(
          productId: Self.committed, level: 1, price: 9_990, gracePeriod: gracePeriod, commitment: 12,
          offers: [
            Offer(
              identifier: "TRY", type: .introductoryOffer, discountType: .freeTrial,
              period: SubscriptionPeriod(1, .week), price: 0)
          ]),
        Product(productId: Self.yearly, level: 2, period: SubscriptionPeriod(1, .year), price: 99_990),
      ])
    return World(apps: [app], seed: 1, behaviour: behaviour, beginning: .newYear)
  }

  private struct Signed {
    var transaction: JWSTransactionDecodedPayload
    var renewal: JWSRenewalInfoDecodedPayload
    var paid: TransactionCommitmentInfo? { transaction.commitmentInfo }
    var next: RenewalCommitmentInfo? { renewal.commitmentInfo }
  }

  /// What Apple signs about a subscription now.
  private func signed(_ original: Int64, _ world: World) throws -> Signed {
    let subject = try #require(
      world.withState { state in
        state.subscriptions[original].flatMap { state.subject(ofTransaction: $0.transactionId) }
      })
    return Signed(
      transaction: JWSTransactionDecodedPayload(json: subject.transactionPayload(signedDate: .newYear)),
      renewal: JWSRenewalInfoDecodedPayload(json: try #require(subject.renewalPayload(signedDate: .newYear))))
  }

  @Test func `each month is billed with its number, and after twelve the commitment renews`() throws {
    let world = world()
    let original = try world.buy(Self.committed, at: .newYear)
    let year = Timestamp.newYear.adding(months: 12)
    for number in 1...12 as ClosedRange<Int64> {
      let signed = try signed(original, world)
      #expect(signed.transaction.billingPlanType == .monthly && signed.transaction.price == 9_990)
      #expect(signed.transaction.expiresDate == .newYear.adding(months: number))
      #expect(
        signed.paid?.json == [
          "billingPeriodNumber": .integer(number), "commitmentExpiresDate": .integer(year.millisecondsSince1970),
          "commitmentPrice": 119_880, "totalBillingPeriods": 12,
        ])
      #expect(
        signed.next?.json == [
          "commitmentAutoRenewProductId": "committed", "commitmentAutoRenewStatus": 1,
          "commitmentRenewalDate": .integer(year.millisecondsSince1970),
          "commitmentRenewalBillingPlanType": "MONTHLY", "commitmentRenewalPrice": 119_880,
        ])
      #expect(signed.renewal.renewalBillingPlanType == .monthly && signed.renewal.renewalPrice == 9_990)
      try world.run(until: .newYear.adding(months: number))
    }
    let renewed = try signed(original, world)
    #expect(renewed.paid?.billingPeriodNumber == 1)
    #expect(renewed.paid?.commitmentExpiresDate == .newYear.adding(months: 24))
    #expect(world.told() == ["SUBSCRIBED/INITIAL_BUY"] + Array(repeating: "DID_RENEW", count: 12))
  }

  @Test func `without renewal of the commitment billing goes on, and the subscription ends with it`() throws {
    let world = world()
    let original = try world.buy(Self.committed, at: .newYear)
    try world.withState { try $0.setRenewal(original, isOn: false, at: .newYear + day) }
    #expect(world.told().last == "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED")
    for number in 1...11 as ClosedRange<Int64> {
      let signed = try signed(original, world)
      #expect(signed.renewal.autoRenewStatus == .on && signed.renewal.renewalPrice == 9_990)
      #expect(signed.next?.commitmentAutoRenewStatus == .off && signed.next?.commitmentRenewalPrice == nil)
      try world.run(until: .newYear.adding(months: number))
    }
    let last = try signed(original, world)
    #expect(last.paid?.billingPeriodNumber == 12)
    #expect(last.renewal.autoRenewStatus == .off && last.renewal.renewalPrice == nil)
    #expect(last.renewal.renewalBillingPlanType == nil)
    try world.run(until: .newYear.adding(months: 12))
    #expect(try world.subscription(original).status == .expired)
    #expect(world.told().suffix(2) == ["DID_RENEW", "EXPIRED/VOLUNTARY"])
    let ended = try signed(original, world)
    #expect(ended.paid?.billingPeriodNumber == 12 && ended.next == nil)
  }

  @Test func `a higher price waits for the next commitment, and so does the customer's consent`() throws {
    let world = world()
    let agreed = try world.buy(Self.committed, at: .newYear)
    let silent = try world.buy(Self.committed, at: .newYear)
    try world.withState { state in
      for id in [agreed, silent] {
        try state.announcePriceIncrease(id, to: 12_990, needsConsent: true, at: .newYear + day)
      }
      try state.acceptPriceIncrease(agreed, at: .newYear + day * 2)
    }
    for number in 1...11 as ClosedRange<Int64> {
      let signed = try signed(agreed, world)
      #expect(signed.transaction.price == 9_990 && signed.renewal.renewalPrice == 9_990)
      #expect(signed.paid?.commitmentPrice == 119_880 && signed.next?.commitmentRenewalPrice == 155_880)
      #expect(signed.renewal.priceIncreaseStatus == .customerConsentedOrWasNotifiedWithoutNeedingConsent)
      #expect(try self.signed(silent, world).renewal.priceIncreaseStatus == .customerHasNotResponded)
      try world.run(until: .newYear.adding(months: number))
    }
    #expect(try signed(agreed, world).renewal.renewalPrice == 12_990)
    try world.run(until: .newYear.adding(months: 12))
    let renewed = try signed(agreed, world)
    #expect(renewed.transaction.price == 12_990 && renewed.paid?.commitmentPrice == 155_880)
    #expect(renewed.renewal.priceIncreaseStatus == nil && renewed.renewal.renewalPrice == 12_990)
    #expect(try world.subscription(silent).status == .expired)
    #expect(world.told().contains("EXPIRED/PRICE_INCREASE"))
  }

  @Test func `another plan waits for the end of the commitment, and an upgrade ends it at once`() throws {
    let world = world()
    let down = try world.buy(Self.committed, at: .newYear)
    let up = try world.buy(Self.yearly, at: .newYear)
    try world.withState { state in
      try state.changePlan(down, to: Self.yearly, at: .newYear + day)
      try state.changePlan(up, to: Self.committed, at: .newYear + day)
    }
    #expect(try signed(up, world).paid?.billingPeriodNumber == 1)
    let waiting = try signed(down, world)
    #expect(waiting.renewal.autoRenewProductId == Self.committed && waiting.renewal.renewalPrice == 9_990)
    #expect(waiting.next?.commitmentAutoRenewProductId == Self.yearly && waiting.next?.commitmentRenewalPrice == 99_990)
    #expect(waiting.next?.commitmentRenewalBillingPlanType == nil)
    try world.run(until: .newYear.adding(months: 11))
    #expect(try signed(down, world).renewal.autoRenewProductId == Self.yearly)
    try world.run(until: .newYear.adding(months: 12))
    let changed = try signed(down, world)
    #expect(changed.transaction.productId == Self.yearly && changed.transaction.price == 99_990)
    #expect(changed.paid == nil && changed.next == nil && changed.transaction.billingPlanType == nil)
  }

  @Test func `a recovery after a gap moves the end of the commitment, and one in the grace period does not`() throws {
    for grace in [nil, day * 16] {
      let world = world(
        Behaviour(billingFails: 1, recovers: 1, recoversWithin: .seconds(86_400)), gracePeriod: grace)
      let original = try world.buy(Self.committed, at: .newYear)
      let end = try world.subscription(original).expires
      try world.run(until: end + day)
      let recovered = try signed(original, world)
      let start = try #require(recovered.transaction.purchaseDate)
      #expect((start == end) == (grace != nil))
      #expect(recovered.paid?.billingPeriodNumber == 2)
      #expect(recovered.paid?.commitmentExpiresDate == .newYear.adding(months: 12) + (start - end))
    }
  }

  @Test func `an extension moves the end of the commitment, and a refund of the current period ends it`() throws {
    let world = world()
    let original = try world.buy(Self.committed, at: .newYear)
    _ = try world.withState { try $0.extendRenewal(original, byDays: 5, at: .newYear + day) }
    #expect(try signed(original, world).paid?.commitmentExpiresDate == .newYear.adding(months: 12) + day * 5)
    try world.withState { try $0.refund(original, at: .newYear + day * 2) }
    #expect(
      world.told().suffix(2) == ["DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", "REFUND"])
    let refunded = try signed(original, world)
    #expect(refunded.renewal.autoRenewStatus == .off && refunded.next == nil)
    #expect(refunded.paid?.billingPeriodNumber == 1)
    try world.run(until: .newYear.adding(months: 13))
    #expect(world.told().last == "REFUND")
  }

  @Test func `a trial and a family member's access are without commitment`() throws {
    let world = world()
    let (original, member) = try world.withState { state in
      let customer = try state.addCustomer(to: 0, at: .newYear)
      let original = try state.purchase(Self.committed, by: customer, offer: "TRY", at: .newYear)
      return (original, try state.share(original, at: .newYear + day))
    }
    #expect(try signed(original, world).paid == nil)
    #expect(try signed(original, world).renewal.renewalBillingPlanType == .monthly)
    try world.run(until: .newYear + day * 7)
    #expect(try signed(original, world).paid?.billingPeriodNumber == 1)
    try world.withState { try $0.setRenewal(original, isOn: false, at: .newYear + day * 8) }
    let shared = try signed(member, world)
    #expect(shared.paid == nil && shared.next == nil && shared.renewal.renewalBillingPlanType == nil)
    // The purchaser is billed until the commitment ends, and the member has access as long.
    #expect(shared.renewal.autoRenewStatus == .on)
  }

  @Test func `months of different length end with the commitment`() throws {
    let world = world()
    let start = Timestamp.newYear + day * 30
    let original = try world.buy(Self.committed, at: start)
    try world.run(until: start.adding(months: 12) - day * 5)
    let last = try signed(original, world)
    #expect(last.paid?.billingPeriodNumber == 12)
    #expect(last.transaction.expiresDate == start.adding(months: 12))
    #expect(last.paid?.commitmentExpiresDate == start.adding(months: 12))
  }
}
