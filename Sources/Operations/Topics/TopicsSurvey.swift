// What `millrace topics` found, and what follows from it. Pure.

internal import AppStore
public import Kafka
public import Millrace

/// Declared topics beside those of a cluster.
public struct TopicsSurvey: Sendable, Hashable {
  /// The difference.
  public var plan: TopicPlan
  /// The cluster that was looked at.
  public var cluster: ClusterDescription

  init(plan: TopicPlan, cluster: ClusterDescription) {
    self.plan = plan
    self.cluster = cluster
  }

  /// Compares.
  ///
  /// - Parameters:
  ///   - catalog: what the files declare.
  ///   - present: topics of the cluster; those that are not declared are ignored.
  public init(
    catalog: TopicCatalog, present: [TopicDescription], cluster: ClusterDescription,
    durability: KafkaSettings.Durability
  ) {
    self.cluster = cluster
    plan = TopicPlan(
      declared: catalog.topics, actual: present.map { TopicState($0) }, brokerCount: cluster.brokerCount,
      durability: durability)
  }

  /// How `plan` ends: with a failure where something was refused, so that a pipeline stops.
  public var status: CommandStatus { plan.hasRefusals ? .failure : .success }

  /// The steps that would change the cluster, in order.
  public var changes: [TopicPlan.Step] { plan.steps.filter(\.changesCluster) }

  /// Why nothing can be applied to this cluster at all; nil where it can, or is as declared already.
  public var objection: OperationError? {
    guard cluster.isEmbedded, !plan.isUpToDate else { return nil }
    return OperationError(
      .failed, "this is an embedded cluster, whose topics are made when it starts and never change",
      at: "kafka.bootstrapServers",
      remedy: "restart millrace embedded-cluster with the same --config, or name a real cluster")
  }

  /// The plan for scripts: one object a step.
  public var jsonLines: [String] {
    plan.steps.map { String(decoding: $0.json.serialized(), as: UTF8.self) }
  }
}

extension TopicPlan.Step {
  /// The step as a JSON object: `topic`, `action` and what it would change.
  var json: JSONObject {
    switch self {
    case .create(let topic, let partitions, let replication, let settings):
      let settings = settings.sorted { $0.key < $1.key }.map {
        JSONObject.Member(key: $0.key, value: .string($0.value))
      }
      return [
        "topic": .string(topic), "action": "create", "partitions": .integer(Int64(partitions)),
        "replication": .integer(Int64(replication)), "settings": .object(JSONObject(settings)),
      ]
    case .alter(let topic, let changes):
      let changes = changes.map { change in
        let value: JSON = ["from": change.from.map { .string($0) } ?? .null, "to": .string(change.to)]
        return JSONObject.Member(key: change.name, value: value)
      }
      return ["topic": .string(topic), "action": "alter", "settings": .object(JSONObject(changes))]
    case .addPartitions(let topic, let from, let to):
      return [
        "topic": .string(topic), "action": "extend", "from": .integer(Int64(from)), "to": .integer(Int64(to)),
      ]
    case .refuse(let topic, let reason):
      return ["topic": .string(topic), "action": "refuse", "reason": .string(reason)]
    case .keep(let topic):
      return ["topic": .string(topic), "action": "keep"]
    }
  }
}
