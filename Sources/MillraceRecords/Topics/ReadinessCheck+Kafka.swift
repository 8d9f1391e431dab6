// A process is ready if Kafka answers and the topics it needs are as strong as their files declare.

package import KafkaClient
package import MillraceCore

extension ReadinessCheck {
  /// Returns a check that compares the cluster's topics with their declarations.
  ///
  /// - Parameters:
  ///   - declared: The topics that the process writes or reads.
  ///   - durability: Whether a weaker cluster is accepted.
  ///   - timeout: The time limit for the cluster's answer.
  package static func kafka(
    _ admin: KafkaAdmin, declared: [TopicDefinition], durability: KafkaSettings.Durability, timeout: Duration
  ) -> ReadinessCheck {
    ReadinessCheck("kafka", remedy: "check that this host can reach the brokers in kafka.bootstrapServers") {
      let present = try await admin.describeTopics(declared.map(\.topic), timeout: timeout)
      let weaknesses = DurabilityCheck.weaknesses(
        declared: declared, actual: present.map { TopicState($0) }, durability: durability)
      guard let first = weaknesses.first else {
        return .healthy(
          durability == .strict
            ? "\(present.count) topics as declared" : "\(present.count) topics exist; relaxed: not compared")
      }
      let rest = weaknesses.count == 1 ? "" : ", and \(weaknesses.count - 1) more"
      return .unhealthy(
        "\(first.description)\(rest)",
        remedy: first.isReplication
          ? "run `millrace topics plan`; on a development cluster with too few brokers, set kafka.durability to relaxed"
          : "run `millrace topics plan` to compare")
    }
  }
  /// Creates a check that a broker answers.
  package static func kafka(_ admin: KafkaAdmin, timeout: Duration) -> ReadinessCheck {
    ReadinessCheck("kafka", remedy: "check that this host can reach the brokers in kafka.bootstrapServers") {
      let cluster = try await admin.describeCluster(timeout: timeout)
      return .healthy("\(cluster.brokerCount) brokers")
    }
  }
}
