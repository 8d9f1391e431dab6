package import KafkaClient

/// The state of a topic in the cluster, to compare with its declaration.
package struct TopicState: Sendable, Hashable {
  /// The name in Kafka.
  package var topic: String
  /// The number of partitions.
  package var partitions: Int
  /// The number of replicas of the partition with the fewest.
  package var replication: Int
  /// The effective settings; `nil` if the cluster does not report them (the embedded cluster).
  package var settings: [String: String]?
  /// The names of the settings that are set on this topic and not inherited.
  package var overrides: Set<String>
  /// The names of the settings that the cluster owns: they are read-only.
  package var readOnly: Set<String>
  /// The current state of each partition; empty if it is unknown.
  package var replicas: [PartitionReplicas]

  /// Creates a state.
  package init(
    topic: String, partitions: Int, replication: Int, settings: [String: String]?, overrides: Set<String> = [],
    readOnly: Set<String> = [], replicas: [PartitionReplicas] = []
  ) {
    self.overrides = overrides
    self.readOnly = readOnly
    self.replicas = replicas
    self.topic = topic
    self.partitions = partitions
    self.replication = replication
    self.settings = settings
  }

  /// Creates a state from Kafka's description.
  package init(_ description: TopicDescription) {
    self.init(
      topic: description.name, partitions: description.partitionCount, replication: description.replicationFactor,
      settings: description.settings, overrides: description.overrides, readOnly: description.readOnly,
      replicas: description.partitions)
  }
}
