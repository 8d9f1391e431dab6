// A wave of refunds. Thousands of purchases are refunded, reinstated, requested and declined. The notifications arrive
// twice, late, in any order and in both versions. In the end the table matches the simulated world.
//
// By default a thousand notifications; `MILLRACE_REFUND_WAVE=10000` sets the number.

import AppStore
import AppStoreSigning
import MillraceTime
import Foundation
import KafkaClient
import MillraceTesting
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceRecords
@testable import Refunds

@Suite(.timeLimit(.minutes(15))) struct RefundWaveTests {
  private static let size = ProcessInfo.processInfo.environment["MILLRACE_REFUND_WAVE"].flatMap { Int($0) } ?? 1_000

  /// The first half covers one day. The second half follows after Apple was asked about the first.
  private struct Wave {
    var purchases: [Int64] = []
    var deliveries: [[ProducerRecord]] = []
    var notifications = 0
  }

  private func purchases(_ count: Int, on stage: RefundStage, _ random: inout SeededGenerator) throws -> [Int64] {
    try (0..<count).map { number in
      switch number % 4 {
      case 0: try stage.buy(RefundStage.monthly)
      case 1: try stage.buy(ownership: .familyShared)
      default: try stage.buy(quantity: Int64.random(in: 1...10, using: &random))
      }
    }
  }

  /// Causes one event for a purchase.
  private func happen(to id: Int64, at time: Timestamp, on stage: RefundStage, _ random: inout SeededGenerator) throws {
    let dice = Int.random(in: 0..<10, using: &random)
    let percentage = Int64.random(in: 1...100_000, using: &random)
    try stage.happens { try $0.throwDice(dice, of: id, percentage: percentage, at: time) }
  }

  private func deliveries(from sequence: Int64, on stage: RefundStage, _ random: inout SeededGenerator) throws
    -> [ProducerRecord]
  {
    var deliveries: [ProducerRecord] = []
    for record in stage.told(from: sequence) {
      let v2 = try stage.v2(record)
      deliveries += [ProducerRecord](repeating: v2, count: Int.random(in: 0..<5, using: &random) == 0 ? 3 : 1)
      if Int.random(in: 0..<3, using: &random) == 0, let v1 = try stage.v1(record) {
        deliveries += [ProducerRecord](repeating: v1, count: Int.random(in: 1...2, using: &random))
      }
    }
    return deliveries
  }

  private func wave(_ seed: UInt64, on stage: RefundStage) throws -> Wave {
    var random = SeededGenerator(seed: seed)
    var wave = Wave()
    wave.purchases = try purchases(Self.size * 2 / 3, on: stage, &random)
    let begin = stage.origin + .seconds(3_600)
    for step in 0..<Self.size * 3 / 4 {
      guard let id = wave.purchases.randomElement(using: &random) else { break }
      try happen(to: id, at: begin + .milliseconds(step * 10), on: stage, &random)
    }
    var first = try deliveries(from: 0, on: stage, &random)
    first.shuffle(using: &random)
    // Apple retries for days, so a part of the first half arrives with the second.
    let late = first.suffix(first.count / 5)
    wave.deliveries = [Array(first.dropLast(late.count)), Array(late)]
    return wave
  }

  /// Creates the second half, which is newer than all of Apple's answers.
  private func goOn(_ wave: inout Wave, _ seed: UInt64, on stage: RefundStage) throws {
    var random = SeededGenerator(seed: seed &+ 1)
    let sequence = stage.nextSequence
    let now = stage.clock.wallTime
    for step in 0..<Self.size / 3 {
      guard let id = wave.purchases.randomElement(using: &random) else { break }
      try happen(to: id, at: now + .milliseconds(step), on: stage, &random)
    }
    wave.deliveries[1] += try deliveries(from: sequence, on: stage, &random)
    wave.deliveries[1].shuffle(using: &random)
    wave.notifications = stage.told().count
  }

  private func deliver(_ records: [ProducerRecord], on stage: RefundStage) throws {
    for record in records { try stage.log.append(record) }
  }

  @Test(arguments: [20_261_121] as [UInt64])
  func `the table equals the simulated world, with one worker and with two`(seed: UInt64) async throws {
    let one = try RefundStage(lanes: 6)
    var wave = try wave(seed, on: one)
    let two = try RefundStage(lanes: 6, sharing: one)
    let first = wave.deliveries[0]
    // A version 1 refund that was reversed meanwhile waits for version 2, which may arrive in the second half.
    try await one.running(1) {
      try deliver(first, on: one)
      try await one.settleInputs()
    }
    try await two.running(2) {
      try deliver(first, on: two)
      try await two.settleInputs()
    }
    try goOn(&wave, seed, on: one)
    let second = wave.deliveries[1]
    // The workers restart with their stored state.
    try await one.running(1) {
      try deliver(second, on: one)
      try await one.settle()
    }
    try await two.running(2) {
      try deliver(second, on: two)
      try await two.settle()
    }

    let truth = one.world.withState { state -> [String: Refunds.Revocation?] in
      var truth: [String: Refunds.Revocation?] = [:]
      for record in state.realms[0].log.records where Self.isTold(record) {
        guard case .purchase(let transaction, _, _) = record.facts.content else { continue }
        let revocation = state.transactions[transaction.id]?.revocation
        truth.updateValue(revocation.map { Refunds.Revocation(world: $0) }, forKey: "\(transaction.id)")
      }
      return truth
    }
    for (name, stage) in [("one worker", one), ("two workers", two)] {
      #expect(stage.deadLetters().isEmpty, "seed \(seed), \(name)")
      let table = try stage.table()
      #expect(Set(table.keys) == Set(truth.keys), "seed \(seed), \(name)")
      let wrong = truth.filter { id, revocation in
        table[id]?["revoked"] != .bool(revocation != nil) || table[id]?["revocation"] != revocation?.json
      }
      #expect(wrong.isEmpty, "seed \(seed), \(name): \(wrong.keys.sorted().prefix(5))")
      try checkEvents(of: stage, against: truth, "seed \(seed), \(name)")
      try EventSchemas.check(stage)
    }
    print(
      """
      refund wave: \(wave.notifications) notifications about \(truth.count) transactions, \
      \(wave.deliveries.map(\.count).reduce(0, +)) deliveries, \(one.appStore.asked.count) questions to Apple by both \
      runs; \(truth.values.filter { $0 != nil }.count) revoked in the end; events with one worker \
      \(try one.events().count), with two \(try two.events().count)
      """)
  }

  private static func isTold(_ record: NotificationLogEntry) -> Bool {
    [NotificationTypeV2.refund, .refundReversed, .refundDeclined, .revoke].contains(record.facts.kind.type)
  }

  /// Checks that the events alone lead to the state of the world, and that each refund is published once.
  private func checkEvents(
    of stage: RefundStage, against truth: [String: Refunds.Revocation?], _ name: String
  ) throws {
    let events = try stage.events()
    #expect(Set(events.map(\.id)).count == events.count, "\(name): duplicate event")
    #expect(!events.contains { $0.name == "refund.unconfirmed" }, "\(name)")
    for (id, told) in Dictionary(grouping: events, by: \.transaction) {
      let changes = told.filter { $0.name.hasPrefix("entitlement.") }
      let last = changes.last?.data["revocation"]
      #expect(last == (truth[id] ?? nil)?.json, "\(name), \(id)")
      for (before, after) in zip(changes, changes.dropFirst()) {
        #expect(before.data["revocation"] != after.data["revocation"], "\(name), \(id): published twice")
      }
    }
  }
}

extension Refunds.Revocation {
  /// The revocation in the simulated world.
  fileprivate init(world revocation: TransactionPayload.RevocationClaims) {
    let kind: Kind =
      switch revocation.type {
      case .refundProrated: .prorated
      case .familyRevoke: .family
      default: .full
      }
    self.init(
      kind: kind, percentage: revocation.percentage, reason: Int64(revocation.reason.rawValue), date: revocation.date)
  }
}
