// A Kafka for development: the embedded cluster with this deployment's topics, in a process of its own.

public import Kafka
public import Millrace

/// Starts embedded clusters.
public enum DevelopmentCluster {
  /// The most brokers a development cluster may have.
  public static let brokerLimit = 9

  /// Starts a cluster that has the topics of `catalog`; it lives as long as the value.
  ///
  /// - Parameter brokers: 1 to ``brokerLimit``.
  /// - Throws: `KafkaError` where no socket could be had.
  public static func start(catalog: TopicCatalog, brokers: Int) throws(KafkaError) -> EmbeddedCluster {
    let cluster = try EmbeddedCluster(brokers: brokers)
    try cluster.create(catalog)
    return cluster
  }

  /// Runs a cluster until the task is cancelled.
  ///
  /// - Parameter onReady: told the address, once clients can use it.
  /// - Throws: `KafkaError` where no socket could be had; what `onReady` throws.
  public static func run(
    catalog: TopicCatalog, brokers: Int, onReady: (String) throws -> Void
  ) async throws {
    let cluster = try start(catalog: catalog, brokers: brokers)
    try onReady(cluster.bootstrapServers)
    // Nothing ever comes; waiting for it ends with the task.
    let (never, source) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    source.finish()
    withExtendedLifetime(cluster) {}
  }

  /// What is said of a cluster that was started.
  public static func sentence(catalog: TopicCatalog, brokers: Int) -> String {
    "embedded cluster: \(HumanText.count(brokers, "broker")), \(HumanText.count(catalog.topics.count, "topic")), "
      + "nothing is kept when it ends"
  }
}
