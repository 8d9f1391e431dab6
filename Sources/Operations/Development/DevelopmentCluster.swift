// A Kafka for development: the embedded cluster with the deployment's topics, in its own process.

package import KafkaClient
package import MillraceRecords

/// Starts embedded clusters.
package enum DevelopmentCluster {
  /// The maximum number of brokers of a development cluster.
  package static let brokerLimit = 9

  /// Starts a cluster with the topics of `catalog`. The cluster ends when the returned value is released.
  ///
  /// - Parameter brokers: 1 to ``brokerLimit``.
  /// - Throws: `KafkaError` if the cluster could not open a socket.
  package static func start(catalog: TopicCatalog, brokers: Int) throws(KafkaError) -> EmbeddedCluster {
    let cluster = try EmbeddedCluster(brokers: brokers)
    try cluster.create(catalog)
    return cluster
  }

  /// Runs a cluster until the task is cancelled.
  ///
  ///   - onReady: Receives the address when clients can connect.
  /// - Throws: `KafkaError` if the cluster could not open a socket; the error of `onReady`.
  package static func run(
    catalog: TopicCatalog, brokers: Int, onReady: (String) throws -> Void
  ) async throws {
    let cluster = try start(catalog: catalog, brokers: brokers)
    try onReady(cluster.bootstrapServers)
    // The stream never yields; waiting for it ends when the task is cancelled.
    let (never, source) = AsyncStream.makeStream(of: Never.self)
    for await _ in never {}
    source.finish()
    withExtendedLifetime(cluster) {}
  }

  /// The message about a started cluster.
  package static func sentence(catalog: TopicCatalog, brokers: Int) -> String {
    "embedded cluster: \(HumanText.count(brokers, "broker")), \(HumanText.count(catalog.topics.count, "topic")), "
      + "data is lost when it ends"
  }
}
