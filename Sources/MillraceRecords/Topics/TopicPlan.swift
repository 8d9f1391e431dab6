// The changes with which a cluster has the topics that the files declare. A plan never deletes a topic and never
// changes the partition count of a keyed topic, which would break the order of its keys. No I/O.

internal import KafkaClient
package import MillraceCore

/// The difference between declared and existing topics.
package struct TopicPlan: Sendable, Hashable {
  /// One setting that differs.
  package struct SettingChange: Sendable, Hashable {
    /// Kafka's name.
    package var name: String
    /// The current value; `nil` if the cluster does not have this setting.
    package var from: String?
    /// The declared value.
    package var to: String
  }

  /// A step of the plan for one topic.
  package enum Step: Sendable, Hashable {
    /// Create the missing topic.
    case create(topic: String, partitions: Int, replication: Int, settings: [String: String])
    /// Change the settings that differ.
    case alter(topic: String, changes: [SettingChange])
    /// Leave settings that differ, because the cluster owns them or does not have them.
    case owned(topic: String, settings: [SettingChange])
    /// Add partitions to a topic without keys.
    case addPartitions(topic: String, from: Int, to: Int)
    /// Leave the topic's settings that its file does not declare unchanged.
    case undeclared(topic: String, settings: [String: String])
    /// Refuse a change, with the action for the operator as the reason.
    case refuse(topic: String, reason: String)
    /// Change nothing.
    case keep(topic: String)

    /// The topic of the step.
    package var topic: String {
      switch self {
      case .create(let topic, _, _, _), .alter(let topic, _), .owned(let topic, _),
        .addPartitions(let topic, _, _), .undeclared(let topic, _), .refuse(let topic, _), .keep(let topic):
        topic
      }
    }

    /// Whether applying the step changes the cluster.
    package var changesCluster: Bool {
      switch self {
      case .create, .alter, .addPartitions: true
      case .owned, .undeclared, .refuse, .keep: false
      }
    }
  }

  /// The steps by topic, in the order in which they are applied.
  package var steps: [Step]
  /// The number of brokers, if durability is relaxed and a topic declares more replicas than that. The plan then
  /// expects this number of replicas.
  package var fewerBrokers: Int?

  /// Whether the cluster matches the declarations.
  package var isUpToDate: Bool {
    steps.allSatisfy { step in
      if case .keep = step { true } else { false }
    }
  }

  /// Whether the plan refuses a change.
  package var hasRefusals: Bool {
    steps.contains { step in
      if case .refuse = step { true } else { false }
    }
  }

  /// Creates a plan from the difference between declared and existing topics.
  ///
  /// - Parameters:
  ///   - declared: The topics that the files declare.
  ///   - actual: The topics of the cluster; undeclared topics are ignored.
  ///   - brokerCount: The number of brokers that answer.
  ///   - absentBrokers: The ids of brokers that have replicas and do not answer.
  ///   - durability: If relaxed, topics have at most as many replicas as the cluster has brokers, and settings that can
  ///     lose records are not refused.
  package init(
    declared: [TopicDefinition], actual: [TopicState], brokerCount: Int, absentBrokers: [Int] = [],
    durability: KafkaSettings.Durability
  ) {
    let present = Dictionary(actual.map { ($0.topic, $0) }, uniquingKeysWith: { first, _ in first })
    steps = declared.sorted { $0.topic < $1.topic }.flatMap { topic in
      let wanted = durability == .relaxed ? topic.fitted(to: brokerCount) : topic
      return present[topic.topic].map { Self.compare(wanted, $0, durability) }
        ?? [Self.create(wanted, brokerCount, absentBrokers)]
    }
    let isFitted = durability == .relaxed && declared.contains { $0.replication > brokerCount }
    fewerBrokers = isFitted ? brokerCount : nil
  }

  private static func create(_ topic: TopicDefinition, _ brokerCount: Int, _ absentBrokers: [Int]) -> Step {
    guard topic.replication <= brokerCount else {
      guard absentBrokers.isEmpty else {
        let absent = "\(absentBrokers.count == 1 ? "broker" : "brokers") \(ReplicaHealth.list(absentBrokers))"
        return .refuse(
          topic: topic.topic,
          reason: "needs \(topic.replication) brokers for its replicas, \(brokerCount) of "
            + "\(brokerCount + absentBrokers.count) answer: start \(absent), then apply again")
      }
      return .refuse(
        topic: topic.topic,
        reason:
          "needs \(topic.replication) brokers for its replicas, \(brokerCount) answer: start or add brokers. On a "
          + "development cluster without more brokers, set kafka.durability to relaxed")
    }
    return .create(
      topic: topic.topic, partitions: topic.lanes, replication: topic.replication, settings: topic.settings)
  }

  private static func compare(
    _ topic: TopicDefinition, _ state: TopicState, _ durability: KafkaSettings.Durability
  ) -> [Step] {
    var steps: [Step] = []
    if state.partitions != topic.lanes {
      if topic.keyed {
        steps.append(
          .refuse(
            topic: topic.topic,
            reason: "has \(state.partitions) partitions, expected \(topic.lanes): keys would change partition and lose "
              + "their order. Set topics.lanes back, or create topics with another prefix"))
      } else if state.partitions < topic.lanes {
        steps.append(.addPartitions(topic: topic.topic, from: state.partitions, to: topic.lanes))
      } else {
        steps.append(
          .refuse(
            topic: topic.topic,
            reason: "has \(state.partitions) partitions, expected \(topic.lanes): Kafka cannot remove partitions"))
      }
    }
    if state.replication < topic.replication {
      steps.append(
        .refuse(
          topic: topic.topic,
          reason: "has \(state.replication) replicas, expected \(topic.replication): reassign its partitions with "
            + "kafka-reassign-partitions"))
    }
    let differences = settingChanges(topic, state)
    let changes = differences.filter { $0.from != nil && !state.readOnly.contains($0.name) }
    let owned = differences.filter { $0.from == nil || state.readOnly.contains($0.name) }
    if !changes.isEmpty { steps.append(.alter(topic: topic.topic, changes: changes)) }
    if !owned.isEmpty { steps.append(.owned(topic: topic.topic, settings: owned)) }
    steps += undeclared(topic, state, durability)
    return steps.isEmpty ? [.keep(topic: topic.topic)] : steps
  }

  /// Returns the steps for settings that a topic's file does not declare. Only the operator knows whether the topic or
  /// the file is right: removing a setting can delete records, and so can keeping it.
  private static func undeclared(
    _ topic: TopicDefinition, _ state: TopicState, _ durability: KafkaSettings.Durability
  ) -> [Step] {
    let names = state.overrides.subtracting(topic.settings.keys)
    let settings = (state.settings ?? [:]).filter { names.contains($0.key) }
    let breaking = settings.filter {
      topic.promise && durability == .strict && DurabilityCheck.breaksPromise($0.key, $0.value)
    }
    var steps = breaking.sorted { $0.key < $1.key }.map { name, value in
      Step.refuse(
        topic: topic.topic,
        reason: "has \(name)=\(value), which can lose records and is not declared in its file: declare it in the "
          + "file, or remove it with kafka-configs --alter --entity-type topics --entity-name \(topic.topic) "
          + "--delete-config \(name)")
    }
    let others = settings.filter { breaking[$0.key] == nil }
    if !others.isEmpty { steps.append(.undeclared(topic: topic.topic, settings: others)) }
    return steps
  }

  private static func settingChanges(_ topic: TopicDefinition, _ state: TopicState) -> [SettingChange] {
    guard let actual = state.settings else { return [] }
    return topic.settings.sorted { $0.key < $1.key }.compactMap { name, value in
      KafkaAdmin.isSame(actual[name], value) ? nil : SettingChange(name: name, from: actual[name], to: value)
    }
  }
}

extension TopicDefinition {
  /// Returns the definition with at most `brokerCount` replicas, for development.
  package func fitted(to brokerCount: Int) -> TopicDefinition {
    var fitted = self
    fitted.replication = max(1, min(replication, brokerCount))
    if minimumInsyncReplicas > fitted.replication {
      fitted.settings["min.insync.replicas"] = "\(fitted.replication)"
    }
    return fitted
  }
}
