public import AppStore

/// A topic as its file below `topics/` declares it, with the deployment's prefix and lane count applied.
public struct TopicDefinition: Sendable, Hashable {
  /// The notifications that a topic receives.
  public struct Notifications: Sendable, Hashable {
    /// Version 2 types.
    public var v2: [NotificationTypeV2] = []
    /// Version 1 types.
    public var v1: [NotificationTypeV1] = []
    /// Whether the topic receives the types that no file names.
    public var unrecognized = false

    /// Creates a selection of notification types.
    public init(v2: [NotificationTypeV2] = [], v1: [NotificationTypeV1] = [], unrecognized: Bool = false) {
      self.v2 = v2
      self.v1 = v1
      self.unrecognized = unrecognized
    }

    /// Whether the topic receives no notifications.
    public var isEmpty: Bool { v2.isEmpty && v1.isEmpty && !unrecognized }
  }

  /// The name in the file, without the deployment's prefix. Code refers to the topic by this name.
  public var name: String
  /// The name in Kafka.
  public var topic: String
  /// A description of the topic's writers and readers.
  public var description: String
  /// Whether records of one key must stay in order, so that the partition count must never change.
  public var keyed: Bool
  /// The number of partitions.
  public var lanes: Int
  /// The number of replicas.
  public var replication: Int
  /// Whether Millrace guarantees the durability of its records. A process is not ready while such a topic is too weak.
  public var promise: Bool
  /// The topic settings, by Kafka's names.
  public var settings: [String: String]
  /// The notifications that the topic receives.
  public var notifications: Notifications

  /// Creates a definition without a file, for tests.
  public init(
    name: String, topic: String? = nil, description: String = "", keyed: Bool = true, lanes: Int = 4,
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
