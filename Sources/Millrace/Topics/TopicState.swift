public import KafkaClient

/// The state of a topic in the cluster, to compare with its declaration.
public struct TopicState: Sendable, Hashable {
  /// The name in Kafka.
  public var topic: String
  /// The number of partitions.
  public var partitions: Int
  /// The number of replicas of the partition with the fewest.
  public var replication: Int
  /// The effective settings; `nil` if the cluster does not report them (the embedded cluster).
  public var settings: [String: String]?
  /// The names of the settings that are set on this topic and not inherited.
  public var overrides: Set<String>
  /// The current state of each partition; empty if it is unknown.
  public var replicas: [PartitionReplicas]

  /// Creates a state.
  public init(
    topic: String, partitions: Int, replication: Int, settings: [String: String]?, overrides: Set<String> = [],
    replicas: [PartitionReplicas] = []
  ) {
    self.overrides = overrides
    self.replicas = replicas
    self.topic = topic
    self.partitions = partitions
    self.replication = replication
    self.settings = settings
  }

  /// Creates a state from Kafka's description.
  public init(_ description: TopicDescription) {
    self.init(
      topic: description.name, partitions: description.partitionCount, replication: description.replicationFactor,
      settings: description.settings, overrides: description.overrides, replicas: description.partitions)
  }
}
