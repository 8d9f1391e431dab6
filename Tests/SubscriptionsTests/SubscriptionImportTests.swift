import AppStore
import AppStoreServerAPI
import AppStoreSigning
import KafkaClient
import MillraceTesting
import MillraceTime
import Synchronization
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

  @Test func `an import ends although unrelated records wait in retry topics`() async throws {
    let stage = try SubscriptionStage()
    try await stage.running { stage in
      func requests(_ ids: [Int64]) -> [ImportRecord] {
        ids.map { ImportRecord("\($0)", bundleId: SubscriptionStage.bundleId, environment: .production) }
      }
      /// A record that waits for a retry in an hour.
      func wait(_ headers: [RecordHeader]) async throws {
        let due = (stage.now + .seconds(3_600)).millisecondsSince1970
        try await stage.deliver([
          ProducerRecord(
            topic: try #require(stage.topics.retries.last), key: Array("1".utf8), value: Array("{}".utf8),
            headers: headers + [RecordHeader("millrace-due", "\(due)")])
        ])
      }
      func progress(_ requests: [ImportRecord]) -> ImportProgress {
        let (log, group) = (stage.log, stage.topics.group)
        return ImportProgress(
          of: Set(requests.map(\.id)), in: SubscriptionImport.topics(of: stage.topics, prefix: ""), of: log
        ) { partitions in log.committedOffsets(of: group).filter { partitions.contains($0.partition) } }
      }
      let own = requests(try (0..<3).map { _ in try stage.buy("app.basic") })
      let others = requests([9, 10])
      // A version 1 notification of an unknown purchase, and the request of another import.
      try await wait(
        CloudEvent(id: "v1", source: "apple", type: "dev.millrace.apple.v1.DID_RENEW", subject: "1").headers)
      try await wait(others[0].producerRecord(prefix: "").headers)
      try await SubscriptionImport(on: stage.log, prefix: "", clock: stage.clock).write(own) { _ in }
      let before = progress(own)
      try await stage.settle()
      #expect(try await progress(own).remaining() == 0)
      try await before.watch(clock: stage.clock) { note in #expect(note == "The worker has asked about all 3 ids.") }
      // The other import waits, also for the request that the worker made to answer it.
      let follower = others[1].producerRecord(prefix: "").headers + [RecordHeader("ce_notificationid", others[0].id)]
      let other = progress([others[0]])
      #expect(try await other.remaining() == 1)
      try await wait(follower)
      #expect(try await other.remaining() == 2)
      #expect(try await before.remaining() == 0)
    }
  }

  @Test func `requests are not answered before the worker has read them, nor while they wait for a retry`() async throws
  {
    let log = InMemoryLog(clock: .system)
    let topics = ["millrace.subscription-imports", "millrace.subscriptions.retry.1m"]
    for topic in topics { try log.createTopic(topic, partitions: 2) }
    let requests = (1...40).map {
      ImportRecord("\($0)", bundleId: SubscriptionStage.bundleId, environment: .production)
    }
    let committed = Mutex<[TopicPartition: Int64]>([:])
    let progress = ImportProgress(of: Set(requests.map(\.id)), in: topics, of: log) { _ in
      committed.withLock { $0.map { CommittedOffset($0.key, offset: $0.value) } }
    }
    #expect(try await progress.remaining() == 0)
    for request in requests { try log.append(request.producerRecord(prefix: "")) }
    #expect(try await progress.remaining() == 40)
    // Partition 0 is answered, except for its first request, which the worker has moved.
    let first = log.records(in: topics[0]).filter { $0.partition == 0 }
    let moved = try #require(first.first)
    try log.append(
      ProducerRecord(topic: topics[1], partition: 0, key: moved.key, value: moved.value, headers: Array(moved.headers)))
    committed.withLock { $0[TopicPartition(topic: topics[0], partition: 0)] = Int64(first.count) }
    #expect(try await progress.remaining() == 40 - first.count + 1)
    committed.withLock { $0[TopicPartition(topic: topics[0], partition: 1)] = Int64(40 - first.count) }
    #expect(try await progress.remaining() == 1)
    committed.withLock { $0[TopicPartition(topic: topics[1], partition: 0)] = 1 }
    #expect(try await progress.remaining() == 0)
  }

  @Test func `a list has one transaction id in a line`() {
    let list = SubscriptionImport.List(
      Array("2000000000000001\n\n# comment\n 2000000000000002 # two\nx\n2000000000000001".utf8))
    #expect(list.ids == ["2000000000000001", "2000000000000002"] && list.invalidLines == [5])
  }
}
