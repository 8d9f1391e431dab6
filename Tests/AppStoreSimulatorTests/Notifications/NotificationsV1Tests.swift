import AppStore
import AppStoreSigning
import Testing

@testable import AppStoreSimulator

@Suite struct NotificationsV1Tests {
  private let now = Timestamp.newYear + .seconds(3_600)

  /// The version 1 bodies for a version 2 kind.
  private func bodies(_ kind: SampleKind) throws -> [(NotificationTypeV1, ResponseBodyV1)] {
    let world = Rehearsal.world()
    try world.withState { state throws(WorldError) in try state.send(kind, in: Rehearsal.production, at: now) }
    let found = world.withState { state -> SubjectV1? in
      state.realms[0].log.records.first.flatMap { state.subjectV1(of: $0) }
    }
    guard let found else { return [] }
    return try kind.typesV1(of: found.purchase.product.type).map {
      ($0, try ResponseBodyV1(parsing: found.body($0)))
    }
  }

  @Test func `version 2 events cover every live type of version 1, and refunds of consumables the last two`() throws {
    var types: Set<NotificationTypeV1> = []
    for kind in SampleKind.all {
      for (type, body) in try bodies(kind) {
        types.insert(type)
        #expect(body.notification_type == type)
        #expect(body.environment == "PROD")
        #expect(body.bid == Rehearsal.app.bundleId)
        #expect(body.password == Rehearsal.app.sharedSecret)
        #expect(body.unified_receipt?.environment == "Production")
        #expect(body.oddFields.isEmpty, "\(kind): \(body.oddFields)")
        #expect(body.original_transaction_id != nil)
      }
    }
    // DocumentedTypesV1Tests covers families and the sandbox.
    types.formUnion(SampleKind(.refund).typesV1(of: .consumable))
    types.formUnion(SampleKind(.consumptionRequest).typesV1(of: .consumable))
    #expect(types == Set(NotificationTypeV1.allKnown).subtracting([.renewal]))
  }

  @Test func `a one-time purchase has no renewal, and a later refund does not affect earlier bodies`() throws {
    let world = Rehearsal.world()
    let coins = try world.buy(Rehearsal.coins, at: .newYear)
    try world.withState { state in
      try state.requestRefund(coins, at: .newYear + .seconds(10))
      try state.refund(coins, at: .newYear + .seconds(20))
    }
    let subjects = world.withState { state in state.realms[0].log.records.compactMap { state.subjectV1(of: $0) } }
    let asked = try ResponseBodyV1(parsing: subjects[1].body(.consumptionRequest))
    #expect(asked.auto_renew_status == nil)
    #expect(asked.unified_receipt?.pending_renewal_info == nil)
    #expect(asked.unified_receipt?.latest_receipt_info?.first?.cancellation_date_ms == nil)
    let refunded = try ResponseBodyV1(parsing: subjects[2].body(.refund))
    #expect(refunded.unified_receipt?.latest_receipt_info?.first?.cancellation_date_ms != nil)
  }

  @Test func `a body has at most 100 rows, including its own transaction`() throws {
    let world = Rehearsal.world()
    let original = try world.buy(Rehearsal.monthly, at: .newYear)
    let customer = try #require(world.withState { $0.transactions[original]?.customer })
    try world.withState { state in
      for number in 0..<150 {
        try state.purchase(Rehearsal.coins, by: customer, at: .newYear + .seconds(number))
      }
      try state.setRenewal(original, isOn: false, at: .newYear + .seconds(200))
    }
    let subject = try #require(
      world.withState { state in state.realms[0].log.records.last.flatMap { state.subjectV1(of: $0) } })
    #expect(subject.rows.count <= SubjectV1.mostRows)
    #expect(subject.rows.contains { $0.transaction.id == original })
  }

  /// A product with an offer of each kind, and the bodies of everything that a scenario of it sends.
  private func bodies(
    of offers: [Offer], _ play: (inout WorldState, CustomerID) throws(WorldError) -> Void
  ) throws -> [ResponseBodyV1] {
    let app = SimulatedApp(
      bundleId: "com.example.app", appAppleId: 1, products: [Product(productId: "it", offers: offers)])
    let world = World(apps: [app], seed: 1, beginning: .newYear)
    return try world.withState { state in
      let customer = try state.addCustomer(to: 0, at: .newYear)
      try play(&state, customer)
      return try state.realms[0].log.records.flatMap { state.bodiesV1(of: $0) }.map { try ResponseBodyV1(parsing: $0) }
    }
  }

  private func offer(_ type: OfferType, _ payment: OfferDiscountType) -> Offer {
    Offer(
      identifier: "\(type.rawValue)\(payment.rawValue)", type: type, discountType: payment,
      period: SubscriptionPeriod(1, .month), price: payment == .freeTrial ? 0 : 100)
  }

  /// [unified_receipt.Latest_receipt_info: is_trial_period, is_in_intro_offer_period, offer_code_ref_name,
  /// promotional_offer_id]
  @Test(arguments: [OfferType.introductoryOffer, .promotionalOffer, .offerCode, .winBackOffer])
  func `a row says what kind of offer it is`(type: OfferType) throws {
    for payment in [OfferDiscountType.freeTrial, .payAsYouGo, .payUpFront] {
      let offer = offer(type, payment)
      let bodies = try bodies(of: [offer]) { state, customer throws(WorldError) in
        try state.purchase("it", by: customer, offer: offer.identifier, at: .newYear)
      }
      let row = try #require(bodies.first?.unified_receipt?.latest_receipt_info?.first)
      #expect(row.is_trial_period == (payment == .freeTrial ? "true" : "false"))
      let isIntroductory = type == .introductoryOffer && payment != .freeTrial
      #expect(row.is_in_intro_offer_period == (isIntroductory ? "true" : "false"))
      #expect(row.offer_code_ref_name == (type == .offerCode ? offer.identifier : nil))
      #expect(row.promotional_offer_id == (type == .promotionalOffer ? offer.identifier : nil))
    }
  }

  /// [unified_receipt.Pending_renewal_info: offer_code_ref_name, promotional_offer_id]
  @Test(arguments: [OfferType.promotionalOffer, .offerCode])
  func `an offer of the next period is in the pending renewal`(type: OfferType) throws {
    let offer = offer(type, .payAsYouGo)
    let bodies = try bodies(of: [offer]) { state, customer throws(WorldError) in
      let original = try state.purchase("it", by: customer, at: .newYear)
      try state.redeemOffer(offer.identifier, of: "it", for: original, at: now)
      try state.setRenewal(original, isOn: false, at: now)
    }
    let pending = try #require(bodies.last?.unified_receipt?.pending_renewal_info?.first)
    #expect(pending.offer_code_ref_name == (type == .offerCode ? offer.identifier : nil))
    #expect(pending.promotional_offer_id == (type == .promotionalOffer ? offer.identifier : nil))
  }

  /// [notification_type, PRICE_INCREASE_CONSENT: "price_consent_status is 0 … sets it to 1 when the customer consents"]
  @Test func `the consent to a price increase is 0, and 1 after the customer has consented`() throws {
    let bodies = try bodies(of: []) { state, customer throws(WorldError) in
      let original = try state.purchase("it", by: customer, at: .newYear)
      try state.announcePriceIncrease(original, to: 12_990, needsConsent: true, at: now)
      try state.acceptPriceIncrease(original, at: now)
      try state.setRenewal(original, isOn: false, at: now)
      try state.setRenewal(original, isOn: true, at: now)
      try state.renew(original, at: now)
    }
    #expect(
      bodies.map(\.notification_type) == [
        .initialBuy, .priceIncreaseConsent, .didChangeRenewalStatus, .didChangeRenewalStatus, .didRenew,
      ])
    let pending = bodies.compactMap { $0.unified_receipt?.pending_renewal_info?.first }
    #expect(pending.map(\.price_consent_status) == [nil, "0", "1", "1", nil])
    #expect(pending.map(\.price_increase_status) == [nil, "0", "1", "1", nil])
  }

  /// [unified_receipt: each date "in Pacific Standard Time"]
  @Test func `each date is there in Pacific time, too`() throws {
    let world = Rehearsal.world(behaviour: Behaviour(billingFails: 1, recovers: 0))
    let original = try world.buy(Rehearsal.graceful, at: .newYear)
    try world.run(until: .newYear + .seconds(40 * 86_400))
    try world.withState { try $0.refund(original, at: .newYear + .seconds(41 * 86_400)) }
    let bodies = try world.withState { state in
      try state.realms[0].log.records.flatMap { state.bodiesV1(of: $0) }.map { try JSONObject(parsing: $0) }
    }
    func dates(_ json: JSON) -> Set<String> {
      switch json {
      case .object(let object):
        var names = Set(object.members.map(\.key).filter { $0.hasSuffix("_ms") }.map { String($0.dropLast(3)) })
        for name in names { #expect(object[name] != nil && object[name + "_pst"] != nil, "\(name)") }
        for member in object.members { names.formUnion(dates(member.value)) }
        return names
      case .array(let array): return array.reduce(into: []) { $0.formUnion(dates($1)) }
      default: return []
      }
    }
    let names = bodies.reduce(into: Set<String>()) { $0.formUnion(dates(.object($1))) }
    #expect(
      names == [
        "purchase_date", "original_purchase_date", "expires_date", "grace_period_expires_date", "cancellation_date",
        "auto_renew_status_change_date",
      ])
  }
}
