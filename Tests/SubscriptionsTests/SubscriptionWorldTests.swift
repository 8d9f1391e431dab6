// A world of customers plays 60 days. The notifications arrive late, twice and in the wrong order, and some never.

import AppStore
import AppStoreSigning
import KafkaClient
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceWorker
@testable import Subscriptions

@Suite(.timeLimit(.minutes(15))) struct SubscriptionWorldTests {
  @Test(arguments: 1...2 as ClosedRange<UInt64>)
  func `with all notifications the table equals the App Store`(seed: UInt64) async throws {
    let (stage, course) = try await play(seed: seed)
    try await stage.running { stage in
      // The backfill finds what was lost.
      try await stage.deliver(course.run(stage))
      let differences = try Self.differences(stage)
      #expect(differences.isEmpty, "seed \(seed): \(differences.map(\.text).joined(separator: "\n"))")
    }
  }

  @Test(arguments: 21...22 as ClosedRange<UInt64>)
  func `without a backfill no end is missed, and no difference outlives its period`(seed: UInt64) async throws {
    let (stage, course) = try await play(seed: seed)
    try await stage.running { stage in
      let lost = try await course.run(stage)
      let differences = try Self.differences(stage)
      print("seed \(seed): \(lost.count) notifications lost, \(differences.count) differences")
      for difference in differences {
        print(difference.text)
        #expect(difference.isWithinPeriod, "seed \(seed): \(difference.text)")
      }
    }
  }

  private func play(seed: UInt64) async throws -> (SubscriptionStage, Course) {
    let behaviour = Behaviour(billingFails: 0.2, recovers: 0.6, recoversWithin: .seconds(20 * 86_400), cancels: 0.15)
    return (try SubscriptionStage(behaviour: behaviour, seed: seed), Course(seed: seed))
  }

  // MARK: - The comparison

  struct Difference {
    var text: String
    /// Whether the period of the row has not ended yet, so that the difference ends with it.
    var isWithinPeriod: Bool
  }

  private static func differences(_ stage: SubscriptionStage) throws -> [Difference] {
    let table = try stage.table()
    let now = stage.now
    #expect(table.count > 100)
    return try stage.happens { state, _ in
      try state.subscriptions.sorted { $0.key < $1.key }.compactMap { id, facts throws -> Difference? in
        let truth = Truth(facts, in: state)
        guard let row = table["\(id)"] else {
          return Difference(text: "\(id): no row, but \(truth)", isWithinPeriod: true)
        }
        let told = Truth(row)
        guard truth != told else { return nil }
        // Without a row that grants anything, the customer either has nothing, or a purchase that nobody reported.
        let isOpen = row["entitledUntil"]?.text.map { $0 > now.rfc3339 } ?? (!facts.givesService || facts.expires > now)
        let history = try Self.history(of: "\(id)", stage)
        return Difference(text: "\(id): \(told), but Apple says \(truth)\(history)", isWithinPeriod: isOpen)
      }
    }
  }

  /// The rows of a subscription in the order in which they were written.
  private static func history(of id: String, _ stage: SubscriptionStage) throws -> String {
    try stage.log.records(in: SubscriptionsWorker.subscriptionsTopic)
      .filter { $0.key.map { String(decoding: $0, as: UTF8.self) } == id }
      .map { record in
        let row = try JSONObject(parsing: record.value ?? [])
        let cause = if case .object(let cause)? = row["cause"] { cause } else { JSONObject() }
        let names = ["kind", "notificationType", "subtype"].compactMap { cause[$0]?.text }.joined(separator: " ")
        return "\n    \(row["signedDate"]?.text ?? "") \(names): \(Truth(row))"
      }.joined()
  }

  struct Truth: Equatable, CustomStringConvertible {
    var status: String
    var product: String
    var expires: String
    var grace: String?
    var renews: Bool
    var next: String
    var commitment: String?

    init(_ facts: SubscriptionFacts, in state: WorldState) {
      let products = state.app(of: facts.customer).products
      status = Subscription.Status(facts.status)?.rawValue ?? "?"
      product = products[facts.product].productId
      expires = facts.expires.rfc3339
      grace = facts.status == .billingGracePeriod ? facts.graceExpires?.rfc3339 : nil
      renews = facts.bills
      next = products[facts.billedProduct].productId
      guard let paid = state.transactions[facts.transactionId]?.commitment else { return }
      commitment = "\(paid.number) of \(paid.total) until \(paid.ends.rfc3339) for \(paid.price)"
      guard let present = facts.commitment else { return }
      let product = products[facts.nextProduct]
      let price = facts.renews ? "\(facts.renewalPrice * (product.commitment ?? 1))" : "?"
      commitment? += "; \(facts.renews), \(product.productId) from \(present.ends.rfc3339) for \(price)"
    }

    init(_ row: JSONObject) {
      func text(_ name: String) -> String { row[name]?.text ?? "?" }
      (status, product, expires) = (text("status"), text("productId"), text("expiresDate"))
      grace = row["gracePeriodExpiresDate"]?.text
      renews = row["autoRenews"] == true
      next = text("autoRenewProductId")
      guard case .object(let info)? = row["commitment"] else { return }
      func value(_ name: String) -> String { info[name].map { $0.text ?? $0.whole.map { "\($0)" } ?? "?" } ?? "?" }
      commitment =
        "\(value("billingPeriod")) of \(value("billingPeriods")) until \(value("expiresDate")) for \(value("price"))"
      guard let renews = info["autoRenews"] else { return }
      commitment? +=
        "; \(renews == true), \(value("autoRenewProductId")) from \(value("renewalDate")) for \(value("renewalPrice"))"
    }

    var description: String {
      "\(status) \(product) until \(expires)\(grace.map { ", grace until \($0)" } ?? ""), \(renews ? "renews as \(next)" : "ends")\(commitment.map { ", commitment \($0)" } ?? "")"
    }
  }
}

/// The events of 60 days.
struct Course {
  let seed: UInt64
  private static let customers = 120
  private static let lossShare = 0.02
  private static let products = ["app.basic", "app.premium", "app.graceful", "app.weekly", "app.committed"]

  /// Plays the course.
  /// - Returns: The notifications that were lost.
  func run(_ stage: SubscriptionStage) async throws -> [ProducerRecord] {
    var random = SeededGenerator(seed: seed)
    var lost: [ProducerRecord] = []
    var late: [ProducerRecord] = []
    var known: [ProducerRecord] = []
    /// The number of the last notification.
    var last: Int64 = -1
    for step in 0..<(60 * 4) {
      // 60 days in steps of six hours.
      if step < 40 {
        for _ in 0..<(Self.customers / 40) {
          _ = try stage.buy(Self.products.randomElement(using: &random) ?? "app.basic")
        }
      }
      for number in 1...3 { Self.act(stage, at: stage.now + .seconds(number * 60), &random) }
      try await stage.advance(by: .seconds(21_600))
      var batch: [ProducerRecord] = []
      for (sequence, record) in try stage.notifications(since: last) {
        last = sequence
        switch Double.random(in: 0..<1, using: &random) {
        case ..<Self.lossShare: lost.append(record)
        case ..<0.1: late.append(record)
        default: batch.append(record)
        }
        known.append(record)
      }
      if let copy = known.randomElement(using: &random), step.isMultiple(of: 3), !lost.contains(copy) {
        batch.append(copy)
      }
      if step.isMultiple(of: 5) {
        batch += late
        late = []
      }
      try await stage.deliver(batch.shuffled(using: &random))
    }
    try await stage.deliver(late.shuffled(using: &random))
    // Every end has been asked for by then.
    try await stage.advance(by: .seconds(7_200))
    try await stage.deliver(stage.notifications(since: last).map(\.record))
    return lost
  }

  /// One random act of a customer or of Apple. Acts that the App Store refuses have no effect.
  private static func act(_ stage: SubscriptionStage, at now: Timestamp, _ random: inout SeededGenerator) {
    let choice = Int.random(in: 0..<12, using: &random)
    let dice = UInt64.random(in: 0...(.max), using: &random)
    _ = try? stage.happens { state, _ in
      let ids = state.subscriptions.keys.sorted()
      guard !ids.isEmpty, let facts = state.subscriptions[ids[Int(dice % UInt64(ids.count))]] else { return }
      let id = facts.originalTransactionId
      switch choice {
      case 0: try state.changePlan(id, to: "app.premium", at: now)
      case 1: try state.changePlan(id, to: "app.basic", at: now)
      case 2: try state.refund(facts.transactionId, at: now)
      case 3: try state.refund(id, at: now)
      case 4 where facts.expires > now: try state.reverseRefund(facts.transactionId, at: now)
      case 5 where facts.status == .active: try state.share(id, at: now)
      case 6: try state.announcePriceIncrease(id, to: 19_990, needsConsent: dice.isMultiple(of: 2), at: now)
      case 7: try state.acceptPriceIncrease(id, at: now)
      case 8 where facts.givesService: try state.extendRenewal(id, byDays: 10, at: now)
      case 9 where facts.givesService: try state.setRenewal(id, isOn: !facts.renews, at: now)
      case 10: try state.redeemOffer("TRY", of: "app.basic", for: id, at: now)
      default:
        guard !facts.givesService, facts.sharedBy == nil else { return }
        try state.purchase("app.basic", by: facts.customer, at: now)
      }
    }
  }
}
