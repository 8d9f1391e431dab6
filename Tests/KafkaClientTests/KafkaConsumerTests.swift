import CRDKafka
import Testing

@testable import KafkaClient

/// Joining a group of librdkafka's mock cluster takes 3 s or more, so few tests use a group.
@Suite(.timeLimit(.minutes(15))) struct KafkaConsumerTests {
  /// The number of ListOffsets in Kafka's protocol.
  private static let listOffsets: Int16 = 2

  private func groupConsumer(_ cluster: TestCluster) throws -> KafkaConsumer {
    try KafkaConsumer(
      cluster.configuration([
        // A leaving member sends no heartbeats. Even on a busy machine its revocation and last commit take less time.
        "session.timeout.ms": "10000", "heartbeat.interval.ms": "500", "auto.offset.reset": "earliest",
        "fetch.wait.max.ms": "10",
      ]),
      subscription: .group("g", topics: ["t"]))
  }

  private func fill(_ cluster: TestCluster, partitions: Int32, each count: Int) async throws {
    try await cluster.withProducer { producer in
      for partition in 0..<partitions {
        for index in 0..<count {
          _ = try await producer.send(
            ProducerRecord(topic: "t", partition: partition, value: Array("\(index)".utf8)))
        }
      }
    }
  }

  @Test func `a successor starts at the committed offset`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await fill(cluster, partitions: 1, each: 10)
    let partition = TopicPartition(topic: "t", partition: 0)

    let first = try groupConsumer(cluster)
    let firstRun = Task { try await first.run() }
    var taken: [ConsumerRecord] = []
    for await event in first.events {
      switch event {
      case .assigned(let queues):
        #expect(queues.map(\.partition) == [partition])
        let queue = try #require(queues.first)
        while taken.count < 4 { taken += try await queue.nextBatch(upTo: 4 - taken.count) }
        first.shutDown()
      case .revoked(let revocation):
        // The member commits its work in flight while the group waits.
        #expect(!revocation.isLost)
        try await first.commit([CommittedOffset(partition, offset: 4, metadata: "four")])
        revocation.complete()
      }
    }
    try await firstRun.value
    #expect(taken.map(\.offset) == [0, 1, 2, 3])

    let second = try groupConsumer(cluster)
    let secondRun = Task { try await second.run() }
    for await event in second.events {
      switch event {
      case .assigned(let queues):
        let committed = try await second.committed([partition], timeout: .seconds(10))
        #expect(committed == [CommittedOffset(partition, offset: 4, metadata: "four")])
        let batch = try await #require(queues.first).nextBatch(upTo: 1)
        #expect(batch.map(\.offset) == [4])
        second.shutDown()
      case .revoked(let revocation): revocation.complete()
      }
    }
    try await secondRun.value
  }

  @Test func `a partition that is not read does not block others`() async throws {
    let cluster = try TestCluster(topics: ["t": 2])
    try await fill(cluster, partitions: 2, each: 50)
    let consumer = try KafkaConsumer(
      cluster.configuration(["fetch.wait.max.ms": "10"]),
      subscription: .partitions([
        TopicPartition(topic: "t", partition: 0): .earliest, TopicPartition(topic: "t", partition: 1): .offset(20),
      ]))
    let running = Task { try await consumer.run() }
    for await case .assigned(let queues) in consumer.events {
      let busy = try #require(queues.first { $0.partition.partition == 1 })
      var offsets: [Int64] = []
      while offsets.count < 30 { offsets += try await busy.nextBatch(upTo: 7).map(\.offset) }
      #expect(offsets == Array(20..<50))
      let idle = try #require(queues.first { $0.partition.partition == 0 })
      #expect(try await idle.nextBatch(upTo: 3).first?.offset == 0)
      consumer.shutDown()
    }
    try await running.value
  }

  @Test func `watermarks return the range of offsets`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await fill(cluster, partitions: 1, each: 3)
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .partitions([:]))
    #expect(
      try await consumer.watermarks(of: TopicPartition(topic: "t", partition: 0), timeout: .seconds(10)) == 0..<3)
  }

  @Test func `watermarks are asked again within the time limit if a broker is no longer the leader`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await fill(cluster, partitions: 1, each: 3)
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .partitions([:]))
    let partition = TopicPartition(topic: "t", partition: 0)
    let notLeader = KafkaError.Code(rawValue: RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION.rawValue)
    cluster.embedded.failRequests(apiKey: Self.listOffsets, with: Array(repeating: notLeader, count: 4))
    #expect(try await consumer.watermarks(of: partition, timeout: .seconds(60)) == 0..<3)

    let refused = KafkaError.Code(rawValue: RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED.rawValue)
    cluster.embedded.failRequests(apiKey: Self.listOffsets, with: [refused])
    await #expect { _ = try await consumer.watermarks(of: partition, timeout: .seconds(60)) } throws: {
      ($0 as? KafkaError)?.code == refused
    }
  }

  @Test func `a waiting read ends when the consumer shuts down and when its task is cancelled`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let consumer = try KafkaConsumer(
      cluster.configuration, subscription: .partitions([TopicPartition(topic: "t", partition: 0): .earliest]))
    let running = Task { try await consumer.run() }
    for await case .assigned(let queues) in consumer.events {
      let queue = try #require(queues.first)
      let cancelled = Task { try await queue.nextBatch(upTo: 1) }
      cancelled.cancel()
      #expect(try await cancelled.value.isEmpty)
      let waiting = Task { try await queue.nextBatch(upTo: 1) }
      consumer.shutDown()
      #expect(try await waiting.value.isEmpty)
    }
    try await running.value
  }

  @Test func `a second member gets half of the partitions after the first releases them`() async throws {
    let cluster = try TestCluster(topics: ["t": 2])
    let first = try groupConsumer(cluster)
    let firstRun = Task { try await first.run() }
    var secondRun: Task<Void, any Error>?
    let second = try groupConsumer(cluster)
    let letting = Task { for await case .revoked(let revocation) in second.events { revocation.complete() } }
    var sizes: [Int] = []
    for await event in first.events {
      switch event {
      case .assigned(let queues):
        sizes.append(queues.count)
        if sizes.count == 1 { secondRun = Task { try await second.run() } }
        if queues.count == 1 { first.shutDown() }
      case .revoked(let revocation): revocation.complete()
      }
    }
    try await firstRun.value
    #expect(sizes.first == 2 && sizes.last == 1, "\(sizes)")
    second.shutDown()
    await letting.value
    try await secondRun?.value
  }

  @Test func `a partition that returns after a rebalance receives records`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let partition = TopicPartition(topic: "t", partition: 0)
    let consumer = try KafkaConsumer(
      cluster.configuration(["fetch.wait.max.ms": "10"]), subscription: .partitions([partition: .earliest]))
    let running = Task { try await consumer.run() }
    var iterator = consumer.events.makeAsyncIterator()
    guard case .assigned(let first)? = await iterator.next() else { return #expect(Bool(false), "no assignment") }
    // As in a rebalance, a new queue replaces the closed one, which is deallocated later.
    var old = first.first
    old?.close()
    let new = try #require(PartitionQueue(partition, of: consumer.handle))
    old = nil
    try await cluster.withProducer { producer in
      _ = try await producer.send(ProducerRecord(topic: "t", value: [1]))
    }
    #expect(try await new.nextBatch(upTo: 1).first?.value == [1])
    new.close()
    consumer.shutDown()
    try await running.value
  }

  @Test func `a reader that leaves its loop does not block the shutdown`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let consumer = try groupConsumer(cluster)
    let running = Task { try await consumer.run() }
    for await case .assigned in consumer.events { break }
    consumer.shutDown()
    try await running.value
  }

  @Test func `an offset out of range is an error`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try await fill(cluster, partitions: 1, each: 3)
    let partition = TopicPartition(topic: "t", partition: 0)
    let consumer = try KafkaConsumer(
      cluster.configuration(["fetch.wait.max.ms": "10"]), subscription: .partitions([partition: .offset(99)]))
    let running = Task { try await consumer.run() }
    for await case .assigned(let queues) in consumer.events {
      let queue = try #require(queues.first)
      await #expect(throws: KafkaError.self) { try await queue.nextBatch(upTo: 10) }
      consumer.shutDown()
    }
    try await running.value
  }

  @Test func `a commit after leaving the group is refused`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let partition = TopicPartition(topic: "t", partition: 0)
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .partitions([partition: .earliest]))
    let running = Task { try await consumer.run() }
    consumer.shutDown()
    // If the partition was already assigned, its revocation must be completed.
    for await case .revoked(let revocation) in consumer.events { revocation.complete() }
    try await running.value
    let error = await #expect(throws: KafkaError.self) {
      try await consumer.commit([CommittedOffset(partition, offset: 1)])
    }
    #expect(error?.code == .closed)
  }

  @Test func `a consumer that is shut down during its start ends`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let partition = TopicPartition(topic: "t", partition: 0)
    for round in 0..<40 {
      let consumer =
        round.isMultiple(of: 2)
        ? try groupConsumer(cluster)
        : try KafkaConsumer(cluster.configuration, subscription: .partitions([partition: .earliest]))
      let running = Task { try await consumer.run() }
      for _ in 0..<round { await Task.yield() }
      consumer.shutDown()
      for await case .revoked(let revocation) in consumer.events { revocation.complete() }
      try await running.value
    }
  }

  @Test func `metadata longer than the broker allows is dropped from the commit`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    let partition = TopicPartition(topic: "t", partition: 0)
    let consumer = try groupConsumer(cluster)
    let running = Task { try await consumer.run() }
    for await event in consumer.events {
      switch event {
      case .assigned:
        let long = String(repeating: "x", count: CommittedOffset.maximumMetadataBytes + 1)
        try await consumer.commit([CommittedOffset(partition, offset: 1, metadata: long)])
        let committed = try await consumer.committed([partition], timeout: .seconds(10))
        #expect(committed == [CommittedOffset(partition, offset: 1)])
        consumer.shutDown()
      case .revoked(let revocation): revocation.complete()
      }
    }
    try await running.value
  }
}
