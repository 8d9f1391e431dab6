// A topic as its file declares it.

public import AppStore

/// A topic as its file below `topics/` declares it, with the deployment's prefix and lane count applied.
public struct TopicDefinition: Sendable, Hashable {
  /// Which notifications a topic takes.
  public struct Notifications: Sendable, Hashable {
    /// Version 2 types.
    public var v2: [NotificationTypeV2] = []
    /// Version 1 types.
    public var v1: [NotificationTypeV1] = []
    /// Whether the topic takes what no file names.
    public var unrecognized = false

    /// Takes what is named.
    public init(v2: [NotificationTypeV2] = [], v1: [NotificationTypeV1] = [], unrecognized: Bool = false) {
      self.v2 = v2
      self.v1 = v1
      self.unrecognized = unrecognized
    }

    /// Whether the topic takes no notification at all.
    public var isEmpty: Bool { v2.isEmpty && v1.isEmpty && !unrecognized }
  }

  /// The name in the file, without the deployment's prefix: how code speaks of the topic.
  public var name: String
  /// The name in Kafka.
  public var topic: String
  /// Who writes it, who reads it.
  public var description: String
  /// Whether records of one key must stay in order, so that the partition count may never change.
  public var keyed: Bool
  /// The number of partitions.
  public var lanes: Int
  /// The number of replicas.
  public var replication: Int
  /// Whether something was promised about its records, so that a weaker topic makes a process unready.
  public var promise: Bool
  /// Topic settings by Kafka's names.
  public var settings: [String: String]
  /// The notifications it takes.
  public var notifications: Notifications

  /// Declares a topic without a file; for tests of what is decided from declarations.
  public init(
    name: String, topic: String? = nil, description: String = "", keyed: Bool = true, lanes: Int = 12,
    replication: Int = 3, promise: Bool = true,
    settings: [String: String] = ["min.insync.replicas": "2", "unclean.leader.election.enable": "false"],
    notifications: Notifications = Notifications()
  ) {
    self.name = name
    self.topic = topic ?? name
    self.description = description
    self.keyed = keyed
    self.lanes = lanes
    self.replication = replication
    self.promise = promise
    self.settings = settings
    self.notifications = notifications
  }

  /// `min.insync.replicas`; Kafka's default is 1.
  public var minimumInsyncReplicas: Int { settings["min.insync.replicas"].flatMap(Int.init) ?? 1 }
}
