import AppStore
import AppStoreSigning
import KafkaClient
import MillraceTesting
import MillraceTime
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Subscriptions

@Suite(.timeLimit(.minutes(15))) struct SubscriptionErasureTests {
  private func erase(_ id: String, _ stage: SubscriptionStage) async throws {
    let key = Array(id.utf8)
    let command = OperationCommand(
      id: "erase-\(id)-\(stage.now.millisecondsSince1970)",
      item: OperationCommand.erasure(of: try stage.erasureKey.mark(of: key), command: id),
      worker: SubscriptionsWorker.name, lane: Murmur2.partition(of: key, among: 4),
      action: .erase(customer: try stage.erasureKey.seal(key)),
      why: "a request", by: "ann", at: stage.now)
    try stage.log.append(OperationsRecord.command(command).producerRecord(stage.topics.operations))
    for _ in 0..<100_000 {
      let results = stage.log.records(in: stage.topics.operations).compactMap { OperationsRecord($0) }
      if results.contains(where: { if case .result(let result) = $0 { result.command == command.id } else { false } }) {
        return try await stage.settle()
      }
      stage.time.advance(by: .milliseconds(1))
      await Task.yield()
    }
    Issue.record("the command was not carried out")
  }

  @Test func `an erased customer stays erased through replays, imports and the end of the period`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let (gone, stays) = (try stage.buy("app.basic"), try stage.buy("app.basic"))
      let lifetime = try stage.buy("app.lifetime")
      try await stage.advance(by: .seconds(40 * 86_400))
      let told = try stage.notifications().map(\.record)
      try await stage.deliver(told)
      #expect(Set(try stage.table().keys) == ["\(gone)", "\(stays)"])
      let asked = stage.appStore.asked.count

      try await erase("\(gone)", stage)
      try await erase("\(lifetime)", stage)
      #expect(Set(try stage.table().keys) == ["\(stays)"])
      #expect(try stage.table(SubscriptionsWorker.purchasesTopic).isEmpty)
      #expect(try stage.events().filter { $0.name == "customer.erased" }.count == 2)

      // Sent again with new ids, which the ledger does not know.
      let customers = [gone, lifetime].map { Array("\($0)".utf8) }
      let again = told.filter { customers.contains($0.key ?? []) }.map { record in
        var record = record
        record.headers = record.headers.map {
          $0.name == "ce_id" ? RecordHeader("ce_id", "again-\($0.value ?? [])") : $0
        }
        return record
      }
      #expect(again.count >= 3)
      try await stage.deliver(told + again)
      try await stage.deliver([
        ImportRecord("\(gone)", bundleId: SubscriptionStage.bundleId, environment: .production).producerRecord(
          prefix: "")
      ])
      // Nobody asks Apple about the customer's end.
      try await stage.advance(by: .seconds(2 * 86_400))
      #expect(Set(try stage.table().keys) == ["\(stays)"])
      #expect(try stage.table(SubscriptionsWorker.purchasesTopic).isEmpty)
      #expect(stage.appStore.asked.count == asked)

      // The subscription renews. Apple signs that after the erasure, so the customer is a new one.
      let last = try #require(stage.entries().last?.facts.sequence)
      try await stage.advance(by: .seconds(31 * 86_400))
      try await stage.deliver(stage.notifications(since: last).map(\.record))
      #expect(Set(try stage.table().keys) == ["\(gone)", "\(stays)"])
    }
  }
}
