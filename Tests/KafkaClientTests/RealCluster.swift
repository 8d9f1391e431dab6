import KafkaClient
import TestEnvironment
import Testing

/// The cluster in `KAFKA_BOOTSTRAP_SERVERS`. Each test has its own topics, groups and ids, so suites can run in
/// parallel and repeatedly.
struct RealCluster: Cluster {
  static let servers = SharedCluster.servers ?? ""

  /// The prefix of every name in this test.
  let prefix = SharedCluster.uniqueName()
  var topic: String { "\(prefix).t" }

  func configuration(_ properties: [String: String]) -> KafkaConfiguration {
    KafkaConfiguration(bootstrapServers: Self.servers, properties: properties, clientID: "test")
  }

  /// The partition of ``topic`` with this number.
  subscript(partition: Int32) -> TopicPartition { TopicPartition(topic: topic, partition: partition) }

  /// Creates a topic for the test. It has no retention limit, so the broker keeps records with old timestamps.
  func createTopic(_ name: String? = nil, partitions: Int) async throws {
    try await KafkaAdmin(configuration).createTopic(
      name ?? topic, partitions: partitions, replicationFactor: 1, settings: ["retention.ms": "-1"],
      timeout: .seconds(30))
  }

  /// Makes a record for a partition of ``topic``. `time` is in milliseconds since 1970.
  func record(_ text: String, to partition: Int32 = 0, at time: Int64? = nil) -> ProducerRecord {
    ProducerRecord(topic: topic, partition: partition, value: Array(text.utf8), timestamp: time)
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips tests that need a real cluster if none is configured.
  static var onRealCluster: Self {
    .enabled(if: !RealCluster.servers.isEmpty, "set KAFKA_BOOTSTRAP_SERVERS to a real Kafka")
  }
}

extension ConsumerRecord {
  var text: String { String(decoding: value ?? [], as: UTF8.self) }
}
