// Implements `millrace topics`: compares a cluster with the topic files and applies the agreed changes step by step.

package import KafkaClient
package import MillraceCore
package import MillraceRecords

/// Compares a cluster with the topic files and changes it.
package struct TopicsOperation: Sendable {
  private let configuration: KafkaConfiguration
  private let admin: KafkaAdmin
  private let catalog: TopicCatalog
  private let durability: KafkaSettings.Durability
  private let timeout: Duration

  /// Creates an operation on a cluster.
  ///
  /// - Parameter timeout: The time limit of one request.
  package init(
    _ configuration: KafkaConfiguration, catalog: TopicCatalog, durability: KafkaSettings.Durability,
    timeout: Duration = .seconds(15)
  ) {
    self.configuration = configuration
    admin = KafkaAdmin(configuration)
    self.catalog = catalog
    self.durability = durability
    self.timeout = timeout
  }

  /// Compares the cluster with the topic files.
  /// - Throws: `KafkaError` that names the address if the cluster does not answer.
  package func survey() async throws(KafkaError) -> TopicsSurvey {
    let cluster = try await configuration.describeCluster(timeout: timeout)
    let present = try await admin.describeTopics(catalog.topics.map(\.topic), timeout: timeout)
    return TopicsSurvey(catalog: catalog, present: present, cluster: cluster, durability: durability)
  }

  /// Applies the changes of a survey. A failed step does not stop the others, because they are independent. The next
  /// `plan` shows the remaining changes.
  ///
  /// - Parameter note: Receives a line for each completed step.
  /// - Returns: One line for each failed step.
  /// - Throws: ``OperationError`` if the cluster cannot be changed at all.
  package func apply(_ survey: TopicsSurvey, note: (String) -> Void) async throws(OperationError) -> [String] {
    if let objection = survey.objection { throw objection }
    var failures: [String] = []
    for step in survey.changes {
      do {
        note(try await apply(step, survey.cluster))
      } catch {
        failures.append("\(step.topic): \(error)")
      }
    }
    return failures
  }

  private func apply(
    _ step: TopicPlan.Step, _ cluster: ClusterDescription
  ) async throws(KafkaError) -> String {
    switch step {
    case .create(let topic, let partitions, let replication, let settings):
      do throws(KafkaError) {
        try await admin.createTopic(
          topic, partitions: partitions, replicationFactor: replication, settings: settings, timeout: timeout)
      } catch {
        if error.code == .topicAlreadyExists { return try await adopt(topic, cluster) }
        guard error.isRefusedSetting, !settings.isEmpty else { throw error }
        return try await create(topic, partitions, replication, settings, cluster)
      }
      return "created \(topic)"
    case .alter(let topic, let changes):
      let refused = try await alter(topic, changes)
      if refused.count == changes.count { return "left \(topic) unchanged: \(Self.list(refused))" }
      return refused.isEmpty ? "altered \(topic)" : "altered \(topic), but \(Self.list(refused))"
    case .addPartitions(let topic, _, let count):
      do throws(KafkaError) {
        try await admin.createPartitions(of: topic, upTo: count, timeout: timeout)
      } catch {
        guard error.code == .invalidPartitions,
          try await admin.awaitTopic(topic, timeout: timeout).partitionCount == count
        else { throw error }
        return "found \(topic) extended by another process"
      }
      return "extended \(topic) to \(HumanText.count(count, "partition"))"
    case .owned(let topic, _), .undeclared(let topic, _), .refuse(let topic, _), .keep(let topic):
      return "left \(topic) unchanged"
    }
  }

  /// Creates a topic on a cluster that refuses some of its settings: without settings, and then sets those that
  /// differ and can be set.
  private func create(
    _ topic: String, _ partitions: Int, _ replication: Int, _ settings: [String: String], _ cluster: ClusterDescription
  ) async throws(KafkaError) -> String {
    try await admin.createTopic(
      topic, partitions: partitions, replicationFactor: replication, settings: [:], timeout: timeout)
    let found = TopicState(try await admin.awaitTopic(topic, timeout: timeout))
    let declared = TopicDefinition(
      name: topic, lanes: partitions, replication: replication, settings: settings)
    let plan = TopicPlan(
      declared: [declared], actual: [found], brokerCount: cluster.brokerCount, durability: durability)
    var notes: [String] = []
    for step in plan.steps {
      switch step {
      case .alter(_, let changes): notes += try await alter(topic, changes)
      case .owned(_, let owned): notes += owned.map { Self.refusal($0, because: "the cluster owns it") }
      case .refuse(_, let reason): notes.append("it \(reason)")
      case .create, .addPartitions, .undeclared, .keep: break
      }
    }
    return notes.isEmpty ? "created \(topic)" : "created \(topic), but \(Self.list(notes))"
  }

  /// Changes settings, each on its own if the cluster refuses them together.
  ///
  /// - Returns: A text for each refused setting.
  private func alter(_ topic: String, _ changes: [TopicPlan.SettingChange]) async throws(KafkaError) -> [String] {
    do throws(KafkaError) {
      let settings = Dictionary(changes.map { ($0.name, $0.to) }, uniquingKeysWith: { $1 })
      let ignored = try await admin.alterTopic(topic, settings: settings, timeout: timeout)
      return changes.filter { ignored.contains($0.name) }.map {
        Self.refusal($0, because: "it accepted the change and did not make it")
      }
    } catch {
      guard error.isRefusedSetting else { throw error }
      if let change = changes.first, changes.count == 1 { return [Self.refusal(change, because: error.reason)] }
    }
    var refused: [String] = []
    for change in changes { refused += try await alter(topic, [change]) }
    return refused
  }

  private static func list(_ notes: [String]) -> String { notes.joined(separator: "; ") }

  private static func refusal(_ change: TopicPlan.SettingChange, because reason: String) -> String {
    let kept = change.from.map { "it stays \($0)" } ?? "it has no such setting"
    return "the cluster refused \(change.name)=\(change.to), so \(kept) (\(reason))"
  }

  /// Adopts a topic that another process created after the survey, and corrects its settings.
  private func adopt(_ topic: String, _ cluster: ClusterDescription) async throws(KafkaError) -> String {
    let description = try await admin.awaitTopic(topic, timeout: timeout)
    let plan = TopicPlan(
      declared: catalog.topics.filter { $0.topic == topic }, actual: [TopicState(description)],
      brokerCount: cluster.brokerCount, absentBrokers: cluster.absentBrokers, durability: durability)
    var notes: [String] = []
    for step in plan.steps {
      switch step {
      case .refuse(_, let reason):
        throw KafkaError(
          code: .topicAlreadyExists, operation: "create \(topic)",
          reason: "another process created it differently: it \(reason)")
      case .alter(_, let changes): notes += try await alter(topic, changes)
      case .owned(_, let owned): notes += owned.map { Self.refusal($0, because: "the cluster owns it") }
      case .create, .addPartitions, .undeclared, .keep: _ = try await apply(step, cluster)
      }
    }
    let found = "found \(topic) created by another process"
    return notes.isEmpty ? found : "\(found), but \(Self.list(notes))"
  }
}

extension KafkaError {
  /// Whether the cluster, or the rights of this client, do not allow a setting.
  fileprivate var isRefusedSetting: Bool {
    [.invalidConfig, .policyViolation, .topicAuthorizationFailed, .clusterAuthorizationFailed].contains(code)
  }
}
