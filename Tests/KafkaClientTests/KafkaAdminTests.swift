import TestEnvironment
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(15))) struct KafkaAdminTests {
  @Test func `an embedded cluster is recognized and reports no topic settings`() async throws {
    let cluster = try TestCluster(topics: ["a": 3, "b": 1], brokers: 3)
    let admin = KafkaAdmin(cluster.configuration)
    let description = try await admin.describeCluster(timeout: .seconds(10))
    #expect(description.isEmbedded)
    #expect(description.brokerCount == 3)
    let topics = try await admin.describeTopics(["a", "missing"], timeout: .seconds(10))
    #expect(topics.map(\.name) == ["a"])
    #expect(topics.first?.partitionCount == 3)
    #expect(topics.first?.settings == nil)
    // The query must not create the topic, as a metadata request for its name would.
    #expect(try await admin.describeTopics(["missing"], timeout: .seconds(10)).isEmpty)
  }

  @Test func `one call returns the watermarks of partitions of many topics and brokers`() async throws {
    let topics = Dictionary(uniqueKeysWithValues: (0..<6).map { ("t\($0)", 9) })
    let cluster = try TestCluster(topics: topics, brokers: 3)
    try await cluster.withProducer { producer in
      for partition in 0..<9 {
        for _ in 0..<partition {
          _ = try await producer.send(ProducerRecord(topic: "t4", partition: Int32(partition), value: [1]))
        }
      }
    }
    let all = topics.flatMap { topic, count in
      (0..<count).map { TopicPartition(topic: topic, partition: Int32($0)) }
    }
    // Every partition is listed twice.
    let found = try await KafkaAdmin(cluster.configuration).highWatermarks(of: all + all, timeout: .seconds(10))
    #expect(found.count == 54)
    for (partition, range) in found {
      #expect(range == 0..<(partition.topic == "t4" ? Int64(partition.partition) : 0), "\(partition)")
    }
    await #expect(throws: KafkaError.self) {
      let missing = TopicPartition(topic: "t0", partition: 99)
      _ = try await KafkaAdmin(cluster.configuration).highWatermarks(of: all + [missing], timeout: .milliseconds(500))
    }
  }

  @Test func `a cluster that does not answer is an error within the time limit`() async throws {
    let admin = KafkaAdmin(KafkaConfiguration(bootstrapServers: "127.0.0.1:1"))
    let error = await #expect(throws: KafkaError.self) {
      try await admin.describeCluster(timeout: .milliseconds(300))
    }
    #expect(error?.isRetriable == true)
  }
}

/// Tests operations that only a real cluster supports.
@Suite(.timeLimit(.minutes(15)), .onRealCluster) struct KafkaAdminOnARealClusterTests {
  private let admin = KafkaAdmin(RealCluster().configuration)
  private let topic = SharedCluster.uniqueName()

  @Test func `a topic is created, altered without losing overrides, and grown`() async throws {
    try await admin.createTopic(
      topic, partitions: 2, replicationFactor: 1, settings: ["retention.ms": "3600000"], timeout: .seconds(20))
    try await admin.alterTopic(topic, settings: ["max.message.bytes": "4194304"], timeout: .seconds(20))
    try await admin.createPartitions(of: topic, upTo: 3, timeout: .seconds(20))
    let described = try #require(try await admin.describeTopics([topic], timeout: .seconds(20)).first)
    #expect(described.partitionCount == 3)
    #expect(described.settings?["retention.ms"] == "3600000")
    #expect(described.settings?["max.message.bytes"] == "4194304")
    #expect(described.overrides.isSuperset(of: ["retention.ms", "max.message.bytes"]))
    let again = await #expect(throws: KafkaError.self) {
      try await admin.createTopic(topic, partitions: 1, replicationFactor: 1, settings: [:], timeout: .seconds(20))
    }
    #expect(again?.reason.isEmpty == false)
  }
}
