// A topic as a cluster has it, as far as it is compared with its declaration.

public import Kafka

/// A topic as the cluster has it.
public struct TopicState: Sendable, Hashable {
  /// The name in Kafka.
  public var topic: String
  /// The number of partitions.
  public var partitions: Int
  /// The replicas of the partition that has the fewest.
  public var replication: Int
  /// The settings in force; `nil` where the cluster does not tell (the embedded one).
  public var settings: [String: String]?

  /// Describes a topic.
  public init(topic: String, partitions: Int, replication: Int, settings: [String: String]?) {
    self.topic = topic
    self.partitions = partitions
    self.replication = replication
    self.settings = settings
  }

  /// The topic that Kafka described.
  public init(_ description: TopicDescription) {
    self.init(
      topic: description.name, partitions: description.partitionCount, replication: description.replicationFactor,
      settings: description.settings)
  }
}
