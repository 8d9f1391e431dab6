/// A cluster, described by its metadata.
public struct ClusterDescription: Sendable, Hashable {
  /// The cluster's id, if the brokers report it.
  public var clusterID: String?
  /// The number of brokers that answer.
  public var brokerCount: Int
  /// The ids of brokers that have replicas and do not answer: they are down or unreachable.
  public var absentBrokers: [Int]

  /// Creates a description, for tests.
  public init(clusterID: String?, brokerCount: Int, absentBrokers: [Int] = []) {
    self.clusterID = clusterID
    self.brokerCount = brokerCount
    self.absentBrokers = absentBrokers
  }

  /// Whether this is librdkafka's mock cluster, which supports less than Kafka (see ``EmbeddedCluster``).
  public var isEmbedded: Bool { clusterID?.hasPrefix(EmbeddedCluster.clusterIDPrefix) ?? false }
}

/// A topic in a cluster.
public struct TopicDescription: Sendable, Hashable {
  /// The topic's name.
  public var name: String
  /// The number of partitions.
  public var partitionCount: Int
  /// The number of replicas of the partition with the fewest.
  public var replicationFactor: Int
  /// The effective settings by name; nil if the cluster does not report them (the embedded cluster).
  public var settings: [String: String]?
  /// The names of the settings that are set on this topic and not inherited.
  public var overrides: Set<String>
  /// The names of the settings that the cluster keeps read-only (`is_read_only` in DescribeConfigs).
  public var readOnly: Set<String>
  /// The current state of each partition.
  public var partitions: [PartitionReplicas]

  /// Creates a description, for tests.
  public init(
    name: String, partitionCount: Int, replicationFactor: Int, settings: [String: String]?,
    overrides: Set<String> = [], readOnly: Set<String> = [], partitions: [PartitionReplicas] = []
  ) {
    self.partitions = partitions
    self.name = name
    self.partitionCount = partitionCount
    self.replicationFactor = replicationFactor
    self.settings = settings
    self.overrides = overrides
    self.readOnly = readOnly
  }
}

/// The replicas of one partition, as its leader reports them.
public struct PartitionReplicas: Sendable, Hashable {
  /// Whether the partition has a leader. Without one it cannot be read or written.
  public var hasLeader: Bool
  /// The number of replicas.
  public var replicas: Int
  /// The number of replicas that have every acknowledged record, including the leader.
  public var inSync: Int

  /// Creates a description.
  public init(hasLeader: Bool, replicas: Int, inSync: Int) {
    self.hasLeader = hasLeader
    self.replicas = replicas
    self.inSync = inSync
  }
}
