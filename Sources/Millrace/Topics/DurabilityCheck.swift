// Is the cluster as strong as the topic files promise? A pure judgement; `/readyz` and the command line share it.

/// Judges present topics against what their files promise.
public enum DurabilityCheck {
  /// One way in which the cluster is weaker than declared.
  public enum Weakness: Sendable, Hashable, CustomStringConvertible {
    /// The topic does not exist.
    case missing(topic: String)
    /// Fewer replicas than declared.
    case replication(topic: String, actual: Int, declared: Int)
    /// Fewer replicas must have a record before it is acknowledged.
    case minimumInsync(topic: String, actual: String, declared: Int)
    /// A replica that lags may become leader.
    case uncleanElection(topic: String)
    /// Records that the file admits are refused as too large.
    case maxMessageBytes(topic: String, actual: String, declared: String)
    /// A keyed topic with another partition count than its lanes: keys go elsewhere than in its sibling topics.
    case partitions(topic: String, actual: Int, declared: Int)

    /// One line for an operator: which topic, what is weaker, what to do.
    public var description: String {
      switch self {
      case .missing(let topic): "\(topic) does not exist: run `millrace topics apply`"
      case .replication(let topic, let actual, let declared):
        "\(topic) has \(actual) replicas, \(declared) are declared: reassign its partitions"
      case .minimumInsync(let topic, let actual, let declared):
        "\(topic) has min.insync.replicas \(actual), \(declared) is declared: run `millrace topics apply`"
      case .uncleanElection(let topic):
        "\(topic) allows unclean leader election: run `millrace topics apply`"
      case .maxMessageBytes(let topic, let actual, let declared):
        "\(topic) has max.message.bytes \(actual), \(declared) is declared: run `millrace topics apply`"
      case .partitions(let topic, let actual, let declared):
        "\(topic) has \(actual) partitions, \(declared) are declared: set topics.lanes to what the cluster has"
      }
    }
  }

  /// What is weaker than declared; empty when the cluster keeps what was promised.
  ///
  /// - Parameters:
  ///   - declared: The topics that the process writes or reads.
  ///   - actual: What the cluster has.
  ///   - durability: When relaxed, topics must exist and nothing else is asked.
  public static func weaknesses(
    declared: [TopicDefinition], actual: [TopicState], durability: KafkaSettings.Durability
  ) -> [Weakness] {
    let present = Dictionary(actual.map { ($0.topic, $0) }, uniquingKeysWith: { first, _ in first })
    return declared.sorted { $0.topic < $1.topic }.flatMap { topic -> [Weakness] in
      guard let state = present[topic.topic] else { return [.missing(topic: topic.topic)] }
      guard durability == .strict else { return [] }
      return (topic.promise ? promise(topic, state) : []) + lanes(topic, state)
    }
  }

  private static func lanes(_ topic: TopicDefinition, _ state: TopicState) -> [Weakness] {
    guard topic.keyed, state.partitions != topic.lanes else { return [] }
    return [.partitions(topic: topic.topic, actual: state.partitions, declared: topic.lanes)]
  }

  private static func promise(_ topic: TopicDefinition, _ state: TopicState) -> [Weakness] {
    var weaknesses: [Weakness] = []
    if state.replication < topic.replication {
      weaknesses.append(
        .replication(topic: topic.topic, actual: state.replication, declared: topic.replication))
    }
    // A cluster that does not tell its settings is not known to be strong enough.
    let settings = state.settings ?? [:]
    let insync = settings["min.insync.replicas"]
    if insync.flatMap(Int.init) ?? 0 < topic.minimumInsyncReplicas {
      weaknesses.append(
        .minimumInsync(topic: topic.topic, actual: insync ?? "unknown", declared: topic.minimumInsyncReplicas))
    }
    if topic.settings["unclean.leader.election.enable"] == "false",
      settings["unclean.leader.election.enable"] != "false"
    {
      weaknesses.append(.uncleanElection(topic: topic.topic))
    }
    if let declared = topic.settings["max.message.bytes"], let least = Int(declared),
      settings["max.message.bytes"].flatMap(Int.init) ?? 0 < least
    {
      weaknesses.append(
        .maxMessageBytes(
          topic: topic.topic, actual: settings["max.message.bytes"] ?? "unknown", declared: declared))
    }
    return weaknesses
  }
}
