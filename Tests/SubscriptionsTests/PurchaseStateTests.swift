// Purchases that do not renew: each change is published once, whatever is repeated, late or lost.

import AppStore
import AppStoreSigning
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceWorker
@testable import Subscriptions

@Suite(.timeLimit(.minutes(5))) struct PurchaseStateTests {
  /// A notice about one purchase, signed on a day.
  struct Notice: Sendable {
    var type: NotificationTypeV2?
    var day: Int64
    var isRevoked = false

    var period: Period? {
      var bought = transaction(from: 0, to: nil, signed: day, revoked: isRevoked ? 10 : nil)
      bought.type = .nonConsumable
      return Period(bought)
    }
  }

  /// Plays notices in this order, and returns the state and the events.
  private static func play(_ notices: [Notice]) -> (PurchaseState, [PurchaseEvent]) {
    var state = PurchaseState()
    var events: [PurchaseEvent] = []
    for notice in notices {
      guard let period = notice.period else { continue }
      if let event = state.apply(period, notice.type)?.event { events.append(event) }
    }
    return (state, events)
  }

  static let rows: [(String, [Notice], [PurchaseEvent])] = [
    ("bought", [Notice(type: .oneTimeCharge, day: 0)], [.completed]),
    (
      "three refund notices for one refund",
      [
        Notice(type: .refund, day: 10, isRevoked: true), Notice(type: .refund, day: 11, isRevoked: true),
        Notice(type: .refundDeclined, day: 12, isRevoked: true),
      ], [.revoked]
    ),
    (
      "an older refund after its reversal",
      [
        Notice(type: .oneTimeCharge, day: 0), Notice(type: .refundReversed, day: 11),
        Notice(type: .refund, day: 10, isRevoked: true),
      ], [.completed]
    ),
    (
      "refunded and reversed",
      [
        Notice(type: .oneTimeCharge, day: 0), Notice(type: .refund, day: 10, isRevoked: true),
        Notice(type: .refundReversed, day: 11),
      ], [.completed, .revoked, .reinstated]
    ),
    ("a declined refund of an old purchase", [Notice(type: .refundDeclined, day: 10)], []),
    ("a question about the consumption of an old purchase", [Notice(type: .consumptionRequest, day: 10)], []),
    ("a reversal as the first notice", [Notice(type: .refundReversed, day: 10)], [.reinstated]),
    ("an answer of Apple as the first notice", [Notice(type: nil, day: 10)], []),
    (
      "the purchase is reported after a question about it",
      [Notice(type: .consumptionRequest, day: 10), Notice(type: .oneTimeCharge, day: 0)], [.completed]
    ),
    (
      "the purchase is reported after its refund",
      [Notice(type: .refund, day: 10, isRevoked: true), Notice(type: .oneTimeCharge, day: 0)], [.revoked]
    ),
    (
      "the purchase is reported twice", [Notice(type: .oneTimeCharge, day: 0), Notice(type: .oneTimeCharge, day: 0)],
      [.completed]
    ),
  ]

  @Test func `each notice publishes only the change that it reports`() {
    for (name, notices, events) in Self.rows { #expect(Self.play(notices).1 == events, "\(name)") }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `any order and any repetition lead to the same state, and a repetition publishes nothing`(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let types: [NotificationTypeV2?] = [.refund, .refundReversed, .refundDeclined, .consumptionRequest, nil]
    var notices = [Notice(type: .oneTimeCharge, day: 0)]
    for day in 1...Int64.random(in: 1...6, using: &random) {
      let type = types.randomElement(using: &random) ?? nil
      notices.append(Notice(type: type, day: day, isRevoked: type == .refund || Bool.random(using: &random)))
    }
    let (state, _) = Self.play(notices)
    #expect(try PurchaseState(packed: state.packed) == state)
    for _ in 0..<5 {
      let order = notices.shuffled(using: &random)
      let (other, events) = Self.play(order)
      #expect(other == state, "seed \(seed)")
      #expect(Self.play(order + notices).1 == events, "seed \(seed)")
      #expect(events.filter { $0 == .completed }.count <= 1, "seed \(seed)")
    }
  }

  @Test(arguments: ["app.coins", "app.lifetime"])
  func `the worker publishes one refund for three notices, and an older refund does not undo a reversal`(
    product: String
  ) async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy(product)
      try await stage.advance(by: .seconds(10))
      try stage.happens { state, now in try state.refund(id, at: now) }
      let refund = try #require(stage.entries().last)
      try await stage.advance(by: .seconds(10))
      try stage.happens { state, now in try state.reverseRefund(id, at: now) }
      let records = try stage.notifications().map(\.record)
      /// The refund again, with an id of its own and signed later.
      func again(_ number: Int64, as type: NotificationTypeV2) throws -> NotificationContents {
        var contents: NotificationContents?
        _ = try stage.v2(refund) { contents = $0 }
        var changed = try #require(contents)
        changed.payload.notificationUUID = "00000000-0000-4000-8000-00000000000\(number)"
        changed.payload.notificationType = type
        changed.payload.signedDate = refund.facts.signedDate + .seconds(number)
        changed.transaction?.signedDate = refund.facts.signedDate + .seconds(number)
        return changed
      }
      try await stage.deliver([records[0], records[1]])
      for (number, type) in [(1, NotificationTypeV2.refund), (2, .refundDeclined)] {
        let contents = try again(Int64(number), as: type)
        try await stage.deliver([stage.v2(refund) { $0 = contents }])
      }
      #expect(try stage.events().map(\.name) == ["purchase.completed", "purchase.revoked"])
      try await stage.deliver([records[2]])
      let late = try again(3, as: .refund)
      try await stage.deliver([stage.v2(refund) { $0 = late }])
      #expect(try stage.events().map(\.name) == ["purchase.completed", "purchase.revoked", "purchase.reinstated"])
    }
  }

  @Test func `a purchase without its app and environment gets those of the notification`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.lifetime")
      let entry = try #require(stage.entries().first)
      try await stage.deliver([
        stage.v2(entry) { contents in
          for field in ["bundleId", "environment", "signedDate"] { contents.transaction?.json[field] = nil }
        }
      ])
      let row = try #require(try stage.table(SubscriptionsWorker.purchasesTopic)["\(id)"])
      #expect(row["bundleId"] == "com.example.app" && row["environment"] == "Production" && row["owned"] == true)
    }
  }
}
