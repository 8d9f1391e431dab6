import Foundation
import Kafka
import Testing

/// The cluster that `KAFKA_BOOTSTRAP_SERVERS` names. Each test has topics, groups and ids of its own there, so that
/// suites run side by side and again.
struct RealCluster: Cluster {
  static let servers = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"] ?? ""

  /// What every name of this test begins with.
  let prefix = "millrace-test-\(UUID().uuidString.prefix(8).lowercased())"
  var topic: String { "\(prefix).t" }

  func configuration(_ properties: [String: String]) -> KafkaConfiguration {
    KafkaConfiguration(bootstrapServers: Self.servers, properties: properties, clientID: "test")
  }

  /// A partition of the topic.
  subscript(partition: Int32) -> TopicPartition { TopicPartition(topic: topic, partition: partition) }

  /// Creates a topic of the test's. Records that a test dates back stay.
  func createTopic(_ name: String? = nil, partitions: Int) async throws {
    try await KafkaAdmin(configuration).createTopic(
      name ?? topic, partitions: partitions, replicationFactor: 1, settings: ["retention.ms": "-1"],
      timeout: .seconds(30))
  }

  /// A record for a partition of the topic; `time` in milliseconds since 1970.
  func record(_ text: String, to partition: Int32 = 0, at time: Int64? = nil) -> ProducerRecord {
    ProducerRecord(topic: topic, partition: partition, value: Array(text.utf8), timestamp: time)
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips, by name, what only a real cluster can show.
  static var onRealCluster: Self {
    .enabled(if: !RealCluster.servers.isEmpty, "set KAFKA_BOOTSTRAP_SERVERS to a real Kafka")
  }
}

extension ConsumerRecord {
  var text: String { String(decoding: value ?? [], as: UTF8.self) }
}
