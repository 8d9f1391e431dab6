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
        guard error.code == .topicAlreadyExists else { throw error }
        return try await adopt(topic, cluster)
      }
      return "created \(topic)"
    case .alter(let topic, let changes):
      let settings = Dictionary(changes.map { ($0.name, $0.to) }, uniquingKeysWith: { $1 })
      try await admin.alterTopic(topic, settings: settings, timeout: timeout)
      return "altered \(topic)"
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
    case .undeclared(let topic, _), .refuse(let topic, _), .keep(let topic):
      return "left \(topic) unchanged"
    }
  }

  /// Adopts a topic that another process created after the survey, and corrects its settings.
  private func adopt(_ topic: String, _ cluster: ClusterDescription) async throws(KafkaError) -> String {
    let found = try await admin.awaitTopic(topic, timeout: timeout)
    let plan = TopicPlan(
      declared: catalog.topics.filter { $0.topic == topic }, actual: [TopicState(found)],
      brokerCount: cluster.brokerCount, absentBrokers: cluster.absentBrokers, durability: durability)
    for step in plan.steps {
      if case .refuse(_, let reason) = step {
        throw KafkaError(
          code: .topicAlreadyExists, operation: "create \(topic)",
          reason: "another process created it differently: it \(reason)")
      }
      _ = try await apply(step, cluster)
    }
    return "found \(topic) created by another process"
  }
}
