// `millrace topics`: looks at a cluster, and carries out what was agreed to, step by step.

public import Kafka
public import Millrace

/// Compares a cluster with the topic files, and changes it.
public struct TopicsOperation: Sendable {
  private let configuration: KafkaConfiguration
  private let admin: KafkaAdmin
  private let catalog: TopicCatalog
  private let durability: KafkaSettings.Durability
  private let timeout: Duration

  /// An operation on a cluster.
  ///
  /// - Parameter timeout: how long one request may take.
  public init(
    _ configuration: KafkaConfiguration, catalog: TopicCatalog, durability: KafkaSettings.Durability,
    timeout: Duration = .seconds(15)
  ) {
    self.configuration = configuration
    admin = KafkaAdmin(configuration)
    self.catalog = catalog
    self.durability = durability
    self.timeout = timeout
  }

  /// Looks at the cluster.
  /// - Throws: `KafkaError` that names the address where it does not answer.
  public func survey() async throws(KafkaError) -> TopicsSurvey {
    let cluster = try await configuration.describeCluster(timeout: timeout)
    let present = try await admin.describeTopics(catalog.topics.map(\.topic), timeout: timeout)
    return TopicsSurvey(catalog: catalog, present: present, cluster: cluster, durability: durability)
  }

  /// Carries out the changes of a survey. A step that fails does not keep the others from happening: each stands for
  /// itself, and the next `plan` shows what is left.
  ///
  /// - Parameter note: hears of every step that was done.
  /// - Returns: one line for each step that failed.
  /// - Throws: ``OperationError`` where the cluster cannot be changed at all.
  public func apply(_ survey: TopicsSurvey, note: (String) -> Void) async throws(OperationError) -> [String] {
    if let objection = survey.objection { throw objection }
    var failures: [String] = []
    for step in survey.changes {
      do {
        note(try await apply(step))
      } catch {
        failures.append("\(step.topic): \(error)")
      }
    }
    return failures
  }

  private func apply(_ step: TopicPlan.Step) async throws(KafkaError) -> String {
    switch step {
    case .create(let topic, let partitions, let replication, let settings):
      try await admin.createTopic(
        topic, partitions: partitions, replicationFactor: replication, settings: settings, timeout: timeout)
      return "created \(topic)"
    case .alter(let topic, let changes):
      let settings = Dictionary(changes.map { ($0.name, $0.to) }, uniquingKeysWith: { $1 })
      try await admin.alterTopic(topic, settings: settings, timeout: timeout)
      return "altered \(topic)"
    case .addPartitions(let topic, _, let count):
      try await admin.createPartitions(of: topic, upTo: count, timeout: timeout)
      return "extended \(topic) to \(HumanText.count(count, "partition"))"
    case .refuse(let topic, _), .keep(let topic):
      return "left \(topic) as it is"
    }
  }
}
