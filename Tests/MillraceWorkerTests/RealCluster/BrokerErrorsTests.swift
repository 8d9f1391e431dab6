// Tests a worker's promises on the embedded cluster while brokers refuse requests, answer late, move leaders and stop.

import AppStore
import AppStoreSigning
import KafkaClient
import MillraceTesting
import Synchronization
import TestEnvironment
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct BrokerErrorsTests {
  /// API keys of Kafka's protocol.
  private enum Request {
    static let produce: Int16 = 0
    static let fetch: Int16 = 1
    static let offsetCommit: Int16 = 8
    static let offsetFetch: Int16 = 9
    static let heartbeat: Int16 = 12
  }

  private enum Code {
    static let leaderNotAvailable = KafkaError.Code(rawValue: 5)
    static let notLeader = KafkaError.Code(rawValue: 6)
    static let requestTimedOut = KafkaError.Code(rawValue: 7)
    static let coordinatorLoading = KafkaError.Code(rawValue: 14)
    static let coordinatorNotAvailable = KafkaError.Code(rawValue: 15)
    static let notCoordinator = KafkaError.Code(rawValue: 16)
    static let notEnoughReplicas = KafkaError.Code(rawValue: 19)
    /// An error code of librdkafka for a broken connection.
    static let transport = KafkaError.Code(rawValue: -195)
  }

  @Test(arguments: [UInt64(1), 2])
  func `with failing brokers no event is missing and each has one ID`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let cluster = try await WorkerCluster(
      .embedded, lanes: 4, brokers: 3,
      // Short, so that some answers arrive after the timeout.
      properties: ["request.timeout.ms": "1000"])
    let embedded = try #require(cluster.embedded)
    let first = try await cluster.start()
    let second = try await cluster.start()
    var sent = try await cluster.receive(.didRenew, .expired, .didFailToRenew, .subscribed)
    var renewals = 1
    try await cluster.events(for: sent)
    for round in 0..<12 {
      let away = try injure(embedded, cluster, round, &random)
      // The broker stays down until a worker notices, and is up again before the test writes.
      if let away {
        for await _ in away.misses { break }
        try embedded.bringUp(away.broker)
      }
      sent += try await cluster.receive(.didRenew, .didFailToRenew, .expired)
      renewals += 1
      // The workers must have met each fault before the next one.
      if round % 3 == 2 { try await cluster.events(for: sent) }
    }
    for broker in embedded.brokers { try embedded.setRoundTrip(.zero, of: broker) }
    // The last offset commit is refused at first, and no later commit repeats its offsets.
    embedded.failRequests(
      apiKey: Request.offsetCommit, with: Array(repeating: Code.requestTimedOut, count: 8))
    sent += try await cluster.receive(.didRenew)
    renewals += 1
    try await cluster.events(for: sent)
    let committed = try #require(try await cluster.committed(), "seed \(seed): some handled records are not committed")
    // No fault has ended a worker.
    try await first.leave()
    try await second.leave()

    let events = try await cluster.events()
    #expect(Set(events.map(\.notification)) == Set(sent.map(\.id)), "seed \(seed)")
    #expect(Set(events.map(\.id)).count == sent.count, "seed \(seed): a notification has two event IDs")
    #expect(try await cluster.records(in: cluster.topics.deadLetters).isEmpty, "seed \(seed)")
    let bodies = Tally.caused.withLock { caused in sent.compactMap { caused[$0.id] } }
    #expect(bodies.count == renewals, "seed \(seed): an effect was not caused")
    #expect(bodies.allSatisfy { $0.count == 1 }, "seed \(seed): an effect was caused with two bodies")
    let delayed = try await cluster.records(in: cluster.topics.retries[0])
    #expect(!delayed.isEmpty)
    // Without transactions a record may be delayed twice. The earlier due time counts.
    var due: [String: Timestamp] = [:]
    for record in delayed {
      let (id, time) = (try #require(record.text("ce_id")), try #require(DeliveryHistory(record).due))
      due[id] = min(due[id] ?? time, time)
    }
    for event in events where event.attempt > 0 {
      let time = try #require(event.record.text("ce_time").flatMap { Timestamp(rfc3339: $0) })
      #expect(time >= (try #require(due[event.notification])), "seed \(seed): \(event.notification) ran early")
    }
    var ledger = Ledger()
    for record in try await cluster.records(in: cluster.topics.ledger) {
      try ledger.restore(record)
    }
    for fixture in sent {
      guard case .done? = ledger[LedgerKey(id: fixture.id)]?.state else {
        Issue.record("seed \(seed): the ledger says \(String(describing: ledger[LedgerKey(id: fixture.id)]))")
        continue
      }
    }
    try await compare(committed, of: cluster, sent, seed)
  }

  /// Runs the same records without faults and compares the committed offsets.
  private func compare(
    _ committed: [TopicPartition: Int64], of cluster: WorkerCluster, _ sent: [NotificationFixture], _ seed: UInt64
  ) async throws {
    #expect(try await cluster.committed() == committed, "seed \(seed): leaving changed what was committed")
    let calm = try await WorkerCluster(.embedded, lanes: cluster.lanes, like: cluster)
    // Copies the records of the topic, because the mock cluster is not idempotent and may have some of them twice.
    try await calm.write(
      try await cluster.records(in: cluster.input).map { record in
        ProducerRecord(
          topic: calm.input, partition: record.partition, key: record.key, value: record.value,
          headers: record.headers)
      })
    let worker = try await calm.start()
    try await calm.events(for: sent)
    let expected = try #require(try await calm.committed(), "seed \(seed)")
    try await worker.leave()
    let live = Set(expected.keys.filter { calm.input.hasSuffix($0.topic) })
    #expect(live.count == cluster.lanes)
    for partition in Set(expected.keys).union(committed.keys) {
      let (offset, plain) = (committed[partition, default: 0], expected[partition, default: 0])
      // Without transactions a record may be delayed once more than without faults, but not less often.
      #expect(
        live.contains(partition) ? offset == plain : offset >= plain && (plain > 0) == (offset > 0),
        "seed \(seed): \(partition) is committed to \(offset), but to \(plain) without faults")
    }
  }

  /// Injects a fault.
  /// - Returns: The broker that was stopped, if any, and a stream that yields when a worker notices.
  private func injure(
    _ embedded: EmbeddedCluster, _ cluster: WorkerCluster, _ kind: Int, _ random: inout SeededGenerator
  ) throws -> (broker: Int32, misses: AsyncStream<Void>)? {
    let topics = cluster.topics
    let broker = Int32.random(in: embedded.brokers, using: &random)
    let count = Int.random(in: 1...4, using: &random)
    func fail(_ request: Int16, _ codes: [KafkaError.Code]) {
      embedded.failRequests(apiKey: request, with: (0..<count).map { codes[$0 % codes.count] })
    }
    switch kind {
    case 0: fail(Request.produce, [Code.notLeader, Code.requestTimedOut, Code.notEnoughReplicas])
    case 1: fail(Request.fetch, [Code.notLeader, Code.leaderNotAvailable, Code.requestTimedOut])
    case 2: fail(Request.offsetCommit, [Code.coordinatorNotAvailable, Code.notCoordinator, Code.requestTimedOut])
    case 3: fail(Request.offsetFetch, [Code.coordinatorLoading, Code.notCoordinator])
    case 4:
      let topic = [topics.inputs[0], topics.ledger, topics.retries[0], topics.events].randomElement(using: &random)
      let partition = topic == topics.events ? 0 : Int32.random(in: 0..<4, using: &random)
      try embedded.setLeader(of: TopicPartition(topic: topic ?? topics.ledger, partition: partition), to: broker)
    case 5: try embedded.setCoordinator(ofGroup: topics.group, to: broker)
    case 6:
      let misses = cluster.losses.watch(broker)
      try ProcessStart.alone { try embedded.takeDown(broker) }
      return (broker, misses)
    // The broker stores the record, but its acknowledgement arrives after the producer's timeout.
    case 7: try embedded.delayAnswers(apiKey: Request.produce, of: broker, by: .milliseconds(1_500), count: count)
    case 8: fail(Request.heartbeat, [Code.notCoordinator, Code.coordinatorNotAvailable])
    case 9: fail(Request.produce, [Code.transport])
    case 10: fail(Request.offsetCommit, [Code.transport])
    default: try embedded.setRoundTrip(.milliseconds(Int64.random(in: 0...150, using: &random)), of: broker)
    }
    return nil
  }
}
