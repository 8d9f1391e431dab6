// Compares the durability of a cluster's topics with their files. No I/O; `/readyz` and the command line share it.

package import MillraceCore

/// Compares existing topics with the guarantees that their files declare.
package enum DurabilityCheck {
  /// One way in which the cluster is weaker than declared.
  package enum Weakness: Sendable, Hashable, CustomStringConvertible {
    /// The topic does not exist.
    case missing(topic: String)
    /// The topic has fewer replicas than declared.
    case replication(topic: String, actual: Int, declared: Int)
    /// Brokers acknowledge a record with fewer in-sync replicas than declared.
    case minimumInsync(topic: String, actual: String, declared: Int)
    /// A replica that is not in sync may become leader.
    case uncleanElection(topic: String)
    /// The topic refuses records that the file allows as too large.
    case maxMessageBytes(topic: String, actual: String, declared: String)
    /// The topic deletes records that the file keeps.
    case deletion(topic: String, setting: String, actual: String, declared: String)
    /// A keyed topic has a partition count other than its lanes, so its keys are in other partitions than in its
    /// sibling topics.
    case partitions(topic: String, actual: Int, declared: Int)

    /// Whether the topic was created with too few replicas, as on a cluster with too few brokers. An outage does not
    /// change the number of replicas.
    var isReplication: Bool {
      if case .replication = self { true } else { false }
    }

    /// One line for the operator: the topic, the weakness and the action.
    package var description: String {
      switch self {
      case .missing(let topic):
        "\(topic) does not exist, or this process may not describe it: run `millrace topics apply`"
      case .replication(let topic, let actual, let declared):
        "\(topic) has \(actual) replicas, expected \(declared): reassign its partitions"
      case .minimumInsync(let topic, let actual, let declared):
        "\(topic) has min.insync.replicas \(actual), expected \(declared): \(Self.apply)"
      case .uncleanElection(let topic):
        "\(topic) allows unclean leader election: \(Self.apply)"
      case .maxMessageBytes(let topic, let actual, let declared):
        "\(topic) has max.message.bytes \(actual), expected \(declared): \(Self.apply)"
      case .deletion(let topic, let setting, let actual, let declared):
        "\(topic) has \(setting) \(actual), expected \(declared), and deletes records too early: \(Self.apply)"
      case .partitions(let topic, let actual, let declared):
        "\(topic) has \(actual) partitions, expected \(declared): set topics.lanes to the cluster's partition count"
      }
    }

    private static let apply = "run `millrace topics apply`, which says if the cluster refuses it"
  }

  /// Returns the weaknesses of the existing topics; empty if they are as strong as declared.
  ///
  /// - Parameters:
  ///   - declared: The topics that the process writes or reads.
  ///   - actual: The topics of the cluster.
  ///   - durability: If relaxed, topics only have to exist.
  package static func weaknesses(
    declared: [TopicDefinition], actual: [TopicState], durability: KafkaSettings.Durability
  ) -> [Weakness] {
    let present = Dictionary(actual.map { ($0.topic, $0) }, uniquingKeysWith: { first, _ in first })
    return declared.sorted { $0.topic < $1.topic }.flatMap { topic -> [Weakness] in
      guard let state = present[topic.topic] else { return [.missing(topic: topic.topic)] }
      guard durability == .strict else { return [] }
      return (topic.promise ? promise(topic, state) : []) + lanes(topic, state)
    }
  }

  /// Returns whether a setting that a topic's file does not declare can lose acknowledged or unread records.
  static func breaksPromise(_ name: String, _ value: String) -> Bool {
    switch name {
    case "retention.bytes", "retention.ms": value != "-1"
    case "cleanup.policy": value != "delete"
    case "unclean.leader.election.enable": value == "true"
    default: false
    }
  }

  /// Returns whether a setting deletes records that the declared value keeps. -1 is no limit.
  private static func deletesMore(_ name: String, _ actual: String, than declared: String) -> Bool {
    switch name {
    case "cleanup.policy":
      !Set(actual.split(separator: ",")).isSubset(of: declared.split(separator: ","))
    case "retention.ms", "retention.bytes":
      if let actual = Int64(actual), let declared = Int64(declared) {
        actual >= 0 && (declared < 0 || actual < declared)
      } else {
        false
      }
    default: false
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
    // A cluster that does not report its settings counts as too weak.
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
    for (name, declared) in topic.settings.sorted(by: { $0.key < $1.key }) {
      guard let actual = settings[name], deletesMore(name, actual, than: declared) else { continue }
      weaknesses.append(.deletion(topic: topic.topic, setting: name, actual: actual, declared: declared))
    }
    return weaknesses
  }
}
