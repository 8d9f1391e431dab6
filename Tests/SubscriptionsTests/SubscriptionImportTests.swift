import AppStore
import AppStoreServerAPI
import AppStoreSigning
import KafkaClient
import MillraceTesting
import MillraceTime
import TestSupport
import Testing

@testable import AppStoreSimulator
@testable import MillraceRecords
@testable import MillraceWorker
@testable import Subscriptions

@Suite(.timeLimit(.minutes(15))) struct SubscriptionImportTests {
  private func request(_ id: String, round: String = "") -> ProducerRecord {
    ImportRecord(id, bundleId: SubscriptionStage.bundleId, environment: .production, round: round)
      .producerRecord(prefix: "")
  }

  @Test func `customers from before have rows after the import, and no events`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let ids = try ["app.basic", "app.weekly", "app.lifetime"].map { try stage.buy($0) }
      try await stage.deliver(ids.map { request("\($0)") } + [request("1")])
      #expect(Set(try stage.table().keys) == ["\(ids[0])", "\(ids[1])"])
      #expect(Set(try stage.table(SubscriptionsWorker.purchasesTopic).keys) == ["\(ids[2])"])
      #expect(try stage.events().isEmpty)
      let asked = stage.appStore.asked.count
      // The same request is answered once; a new round asks again.
      try await stage.deliver([request("\(ids[0])")])
      #expect(stage.appStore.asked.count == asked)
      try await stage.deliver([request("\(ids[0])", round: "2")])
      #expect(stage.appStore.asked.count == asked + 1)
    }
  }

  @Test func `a later transaction leads to all subscriptions of the customer`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let first = try stage.buy("app.basic")
      let second = try stage.happens { state, now in
        let customer = try #require(state.subscriptions[first]).customer
        return try state.purchase("app.weekly", by: customer, at: now)
      }
      try await stage.advance(by: .seconds(8 * 86_400))
      let later = try stage.happens { state, _ in try #require(state.subscriptions[second]).transactionId }
      #expect(later != second)
      try await stage.deliver([request("\(later)")])
      #expect(Set(try stage.table().keys) == ["\(first)", "\(second)"])
      // A new round asks about the transaction and about each subscription again.
      let asked = stage.appStore.asked.count
      try await stage.deliver([request("\(later)", round: "2")])
      #expect(stage.appStore.asked.count == asked + 3)
    }
  }

  @Test func `types that this version does not know are read too`() {
    #expect(SubscriptionsWorker.families.contains(.unrecognized))
  }

  @Test func `the end of an imported subscription is awaited`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let id = try stage.buy("app.basic")
      try await stage.deliver([request("\(id)")])
      try stage.happens { state, now in try state.setRenewal(id, isOn: false, at: now) }
      try await stage.advance(by: .seconds(31 * 86_400 + 3_600))
      #expect(try stage.table()["\(id)"]?["status"] == "expired")
      #expect(try stage.events().map(\.name) == ["subscription.expired"])
    }
  }

  @Test func `commands write requests, look up rows and compare them with Apple`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      let ids = try (0..<20).map { _ in try stage.buy("app.basic") }
      let requests = ids.map {
        ImportRecord("\($0)", bundleId: SubscriptionStage.bundleId, environment: .production)
      }
      try await SubscriptionImport(on: stage.log, prefix: "", clock: stage.clock).write(requests) { _ in }
      try await stage.settle()
      let table = SubscriptionTable(in: stage.log, prefix: "")
      for id in ids { #expect(try await table.row(of: "\(id)")?["status"] == "active") }
      #expect(try await table.row(of: "1") == nil)
      var random = SeededGenerator(seed: 1)
      #expect(try await table.sample(5, of: SubscriptionStage.bundleId, by: &random).count == 5)
      let rows = try await table.sample(100, of: SubscriptionStage.bundleId, by: &random)
      #expect(rows.count == 20)
      let check = SubscriptionCheck(try stage.client(), clock: stage.clock)
      for row in rows {
        #expect(try await check.check(row).line == nil)
      }
      // A change without a notification is a difference.
      try stage.happens { state, now in try state.setRenewal(ids[0], isOn: false, at: now) }
      let row = try #require(try await table.row(of: "\(ids[0])"))
      let result = try await check.check(row)
      #expect(result.line == "\(ids[0])  autoRenews: true in the table, false at Apple")
    }
  }

  @Test func `a list has one transaction id in a line`() {
    let list = SubscriptionImport.List(
      Array("2000000000000001\n\n# comment\n 2000000000000002 # two\nx\n2000000000000001".utf8))
    #expect(list.ids == ["2000000000000001", "2000000000000002"] && list.invalidLines == [5])
  }
}
