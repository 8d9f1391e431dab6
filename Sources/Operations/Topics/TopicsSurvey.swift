// The findings of `millrace topics`. Pure.

internal import AppStore
package import KafkaClient
package import MillraceCore
package import MillraceRecords

/// The difference between the declared topics and a cluster's topics.
package struct TopicsSurvey: Sendable, Hashable {
  /// The steps that remove the difference.
  package var plan: TopicPlan
  /// The cluster.
  package var cluster: ClusterDescription
  /// The replicas that are missing or not in sync.
  package var replicas: ReplicaHealth
}

extension TopicsSurvey {
  /// Compares declared and present topics.
  ///
  /// - Parameters:
  ///   - catalog: The declared topics.
  ///   - present: The cluster's topics. Undeclared ones are ignored.
  package init(
    catalog: TopicCatalog, present: [TopicDescription], cluster: ClusterDescription,
    durability: KafkaSettings.Durability
  ) {
    self.cluster = cluster
    let actual = present.map { TopicState($0) }
    plan = TopicPlan(
      declared: catalog.topics, actual: actual, brokerCount: cluster.brokerCount, absentBrokers: cluster.absentBrokers,
      durability: durability)
    replicas = ReplicaHealth(declared: catalog.topics, actual: actual, absentBrokers: cluster.absentBrokers)
  }

  /// The exit status of `plan`: a failure if a step was refused, so that a pipeline stops.
  package var status: CommandStatus { plan.hasRefusals ? .failure : .success }

  /// The steps that would change the cluster, in order.
  package var changes: [TopicPlan.Step] { plan.steps.filter(\.changesCluster) }

  /// The reason why this cluster cannot be changed at all; nil if it can be, or if it needs no change.
  package var objection: OperationError? {
    guard cluster.isEmbedded, !plan.isUpToDate else { return nil }
    return OperationError(
      .failed, "the topics of an embedded cluster are created at its start and cannot be changed",
      at: "kafka.bootstrapServers",
      remedy: "restart millrace embedded-cluster with the same --config, or use a real cluster")
  }

  /// The plan as JSON lines, one object per step.
  package var jsonLines: [String] {
    plan.steps.map { String(decoding: $0.json.serialized(), as: UTF8.self) }
  }
}

extension TopicPlan.Step {
  /// The step as a JSON object: `topic`, `action` and the changes.
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
      return ["topic": .string(topic), "action": "alter", "settings": .object(Self.json(changes))]
    case .owned(let topic, let settings):
      return ["topic": .string(topic), "action": "owned", "settings": .object(Self.json(settings))]
    case .addPartitions(let topic, let from, let to):
      return [
        "topic": .string(topic), "action": "extend", "from": .integer(Int64(from)), "to": .integer(Int64(to)),
      ]
    case .undeclared(let topic, let settings):
      let settings = settings.sorted { $0.key < $1.key }.map {
        JSONObject.Member(key: $0.key, value: .string($0.value))
      }
      return ["topic": .string(topic), "action": "undeclared", "settings": .object(JSONObject(settings))]
    case .refuse(let topic, let reason):
      return ["topic": .string(topic), "action": "refuse", "reason": .string(reason)]
    case .keep(let topic):
      return ["topic": .string(topic), "action": "keep"]
    }
  }

  private static func json(_ changes: [TopicPlan.SettingChange]) -> JSONObject {
    JSONObject(
      changes.map { change in
        let value: JSON = ["from": change.from.map { .string($0) } ?? .null, "to": .string(change.to)]
        return JSONObject.Member(key: change.name, value: value)
      })
  }
}
