import TestEnvironment
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(15)), .onRealCluster) struct ConsumerQueriesOnARealClusterTests {
  private let cluster = RealCluster()
  private let limit = Duration.seconds(30)

  @Test func `the offset for a time is the offset of the first record at or after it`() async throws {
    try await cluster.createTopic(partitions: 3)
    let noon: Int64 = 1_780_000_000_000
    try await cluster.withProducer { producer in
      for (offset, time) in [noon, noon + 1000, noon + 1000, noon + 2000].enumerated() {
        #expect(try await producer.send(cluster.record("\(offset)", at: time)).offset == Int64(offset))
      }
      _ = try await producer.send(cluster.record("old", to: 1, at: noon - 1))
    }
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .partitions([:]))
    for (time, offset) in [
      (0, 0), (noon, 0), (noon + 1, 1), (noon + 1000, 1), (noon + 1001, 3), (noon + 2000, 3), (noon + 2001, nil),
    ] as [(Int64, Int64?)] {
      let found = try await consumer.offsets(forTimes: [cluster[0]: time], timeout: limit)
      #expect(found == (offset.map { [cluster[0]: $0] } ?? [:]), "at \(time - noon) ms")
    }
    // Several partitions in one call. Partitions without a record at or after the time are absent.
    let found = try await consumer.offsets(
      forTimes: [cluster[0]: noon + 1500, cluster[1]: noon, cluster[2]: noon], timeout: limit)
    #expect(found == [cluster[0]: 3])
  }

  @Test func `a partition that does not exist is an error that names it`() async throws {
    try await cluster.createTopic(partitions: 1)
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .partitions([:]))
    let error = await #expect(throws: KafkaError.self) {
      try await consumer.offsets(forTimes: [cluster[7]: 0], timeout: .seconds(5))
    }
    #expect(error?.description.contains(cluster.topic) == true)
  }
}

@Suite(.timeLimit(.minutes(15))) struct ConsumerQueriesTests {
  @Test func `a query for no partitions sends no request`() async throws {
    let consumer = try KafkaConsumer(
      KafkaConfiguration(bootstrapServers: "127.0.0.1:1"), subscription: .partitions([:]))
    #expect(try await consumer.offsets(forTimes: [:], timeout: .seconds(1)) == [:])
  }

  @Test func `an unreachable cluster is an error within the time limit`() async throws {
    let cluster = try TestCluster(topics: ["t": 1])
    try ProcessStart.alone { try cluster.embedded.takeDown(1) }
    let consumer = try KafkaConsumer(cluster.configuration, subscription: .partitions([:]))
    let partition = TopicPartition(topic: "t", partition: 0)
    let error = await #expect(throws: KafkaError.self) {
      try await consumer.offsets(forTimes: [partition: 0], timeout: .milliseconds(300))
    }
    #expect(error?.isRetriable == true)
  }
}
