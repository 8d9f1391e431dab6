// Ready means: Kafka answers, and the topics this process needs are as strong as their files promise.

public import Kafka

extension ReadinessCheck {
  /// Asks the cluster for its topics and holds them against their declarations.
  ///
  /// - Parameters:
  ///   - declared: the topics that the process writes or reads.
  ///   - durability: whether a weaker cluster is accepted.
  ///   - timeout: how long the cluster may take to answer.
  public static func kafka(
    _ admin: KafkaAdmin, declared: [TopicDefinition], durability: KafkaSettings.Durability, timeout: Duration
  ) -> ReadinessCheck {
    ReadinessCheck("kafka", remedy: "check that the brokers of kafka.bootstrapServers can be reached") {
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
        remedy: "compare with `millrace topics plan`; for development set kafka.durability to relaxed")
    }
  }
}
