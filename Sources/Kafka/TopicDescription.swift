/// A cluster as its metadata shows it.
public struct ClusterDescription: Sendable, Hashable {
  /// The cluster's id, where the brokers tell it.
  public var clusterID: String?
  /// How many brokers answer for it.
  public var brokerCount: Int

  /// Makes a description, for tests of what is decided from one.
  public init(clusterID: String?, brokerCount: Int) {
    self.clusterID = clusterID
    self.brokerCount = brokerCount
  }

  /// True for librdkafka's mock cluster, which can do less than Kafka (see ``EmbeddedCluster``).
  public var isEmbedded: Bool { clusterID?.hasPrefix(EmbeddedCluster.clusterIDPrefix) ?? false }
}

/// A topic as the cluster has it.
public struct TopicDescription: Sendable, Hashable {
  /// The name.
  public var name: String
  /// How many partitions it has.
  public var partitionCount: Int
  /// Replicas of the partition that has fewest.
  public var replicationFactor: Int
  /// Settings in force by name; nil where the cluster cannot tell them (the embedded cluster).
  public var settings: [String: String]?
  /// Names of the settings that were set on this topic itself, not inherited.
  public var overrides: Set<String>

  /// Makes a description, for tests of what is decided from one.
  public init(
    name: String, partitionCount: Int, replicationFactor: Int, settings: [String: String]?,
    overrides: Set<String> = []
  ) {
    self.name = name
    self.partitionCount = partitionCount
    self.replicationFactor = replicationFactor
    self.settings = settings
    self.overrides = overrides
  }
}
