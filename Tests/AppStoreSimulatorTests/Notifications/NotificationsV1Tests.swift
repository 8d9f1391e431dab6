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
}
