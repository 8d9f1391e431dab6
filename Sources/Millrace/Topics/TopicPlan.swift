// What would have to change for a cluster to have the topics that the files declare: a pure comparison. It never
// deletes, and never changes the partition count of a keyed topic, which would tear the order of its keys.

/// The difference between declared and present topics.
public struct TopicPlan: Sendable, Hashable {
  /// One setting that differs.
  public struct SettingChange: Sendable, Hashable {
    /// Kafka's name.
    public var name: String
    /// In force now; `nil` when the cluster did not say.
    public var from: String?
    /// Declared.
    public var to: String
  }

  /// What to do about one topic.
  public enum Step: Sendable, Hashable {
    /// The topic does not exist.
    case create(topic: String, partitions: Int, replication: Int, settings: [String: String])
    /// Settings differ.
    case alter(topic: String, changes: [SettingChange])
    /// A topic without keys has too few partitions.
    case addPartitions(topic: String, from: Int, to: Int)
    /// What cannot be done here, and what an operator can do instead.
    case refuse(topic: String, reason: String)
    /// Nothing.
    case keep(topic: String)

    /// The topic it speaks of.
    public var topic: String {
      switch self {
      case .create(let topic, _, _, _), .alter(let topic, _), .addPartitions(let topic, _, _),
        .refuse(let topic, _), .keep(let topic):
        topic
      }
    }

    /// Whether applying it changes the cluster.
    public var changesCluster: Bool {
      switch self {
      case .create, .alter, .addPartitions: true
      case .refuse, .keep: false
      }
    }
  }

  /// By topic, in the order in which they are applied.
  public var steps: [Step]
  /// Where durability is relaxed and the cluster has fewer brokers than a topic is to have replicas: how many it has. Such
  /// topics were compared with as many.
  public var fewerBrokers: Int?

  /// Whether the cluster is as declared.
  public var isUpToDate: Bool {
    steps.allSatisfy { step in
      if case .keep = step { true } else { false }
    }
  }

  /// Whether something was refused.
  public var hasRefusals: Bool {
    steps.contains { step in
      if case .refuse = step { true } else { false }
    }
  }

  /// Compares.
  ///
  /// - Parameters:
  ///   - declared: What the files say.
  ///   - actual: What the cluster has; topics that are not declared are ignored.
  ///   - brokerCount: Brokers in the cluster.
  ///   - durability: When relaxed, a cluster of fewer brokers than replicas gets as many replicas as it has brokers.
  public init(
    declared: [TopicDefinition], actual: [TopicState], brokerCount: Int, durability: KafkaSettings.Durability
  ) {
    let present = Dictionary(actual.map { ($0.topic, $0) }, uniquingKeysWith: { first, _ in first })
    steps = declared.sorted { $0.topic < $1.topic }.flatMap { topic in
      let wanted = durability == .relaxed ? topic.fitted(to: brokerCount) : topic
      return present[topic.topic].map { Self.compare(wanted, $0) } ?? [Self.create(wanted, brokerCount)]
    }
    let isFitted = durability == .relaxed && declared.contains { $0.replication > brokerCount }
    fewerBrokers = isFitted ? brokerCount : nil
  }

  private static func create(_ topic: TopicDefinition, _ brokerCount: Int) -> Step {
    guard topic.replication <= brokerCount else {
      return .refuse(
        topic: topic.topic,
        reason: "needs \(topic.replication) brokers for its replicas, the cluster has \(brokerCount): add brokers, or "
          + "set kafka.durability to relaxed (development)")
    }
    return .create(
      topic: topic.topic, partitions: topic.lanes, replication: topic.replication, settings: topic.settings)
  }

  private static func compare(_ topic: TopicDefinition, _ state: TopicState) -> [Step] {
    var steps: [Step] = []
    if state.partitions != topic.lanes {
      if topic.keyed {
        steps.append(
          .refuse(
            topic: topic.topic,
            reason: "has \(state.partitions) partitions, \(topic.lanes) are declared: keys would change partition and "
              + "lose their order. Set topics.lanes back, or move to topics with another prefix"))
      } else if state.partitions < topic.lanes {
        steps.append(.addPartitions(topic: topic.topic, from: state.partitions, to: topic.lanes))
      } else {
        steps.append(
          .refuse(
            topic: topic.topic,
            reason: "has \(state.partitions) partitions, \(topic.lanes) are declared: Kafka cannot remove partitions"))
      }
    }
    if state.replication < topic.replication {
      steps.append(
        .refuse(
          topic: topic.topic,
          reason: "has \(state.replication) replicas, \(topic.replication) are declared: reassign its partitions with "
            + "kafka-reassign-partitions"))
    }
    let changes = settingChanges(topic, state)
    if !changes.isEmpty { steps.append(.alter(topic: topic.topic, changes: changes)) }
    return steps.isEmpty ? [.keep(topic: topic.topic)] : steps
  }

  private static func settingChanges(_ topic: TopicDefinition, _ state: TopicState) -> [SettingChange] {
    guard let actual = state.settings else { return [] }
    return topic.settings.sorted { $0.key < $1.key }.compactMap { name, value in
      isSame(actual[name], value) ? nil : SettingChange(name: name, from: actual[name], to: value)
    }
  }

  /// `compact,delete` and `delete,compact` are the same policy.
  private static func isSame(_ actual: String?, _ declared: String) -> Bool {
    guard let actual else { return false }
    return actual == declared || actual.split(separator: ",").sorted() == declared.split(separator: ",").sorted()
  }
}

extension TopicDefinition {
  /// The declaration that a cluster of so few brokers can hold, for development.
  public func fitted(to brokerCount: Int) -> TopicDefinition {
    var fitted = self
    fitted.replication = max(1, min(replication, brokerCount))
    if minimumInsyncReplicas > fitted.replication {
      fitted.settings["min.insync.replicas"] = "\(fitted.replication)"
    }
    return fitted
  }
}
