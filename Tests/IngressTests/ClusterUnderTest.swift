// The cluster of a test: embedded, or the real cluster in KAFKA_BOOTSTRAP_SERVERS. Each test has its own topics, so
// suites can run in parallel and repeatedly.

import KafkaClient
import MillraceRecords
import TestEnvironment

/// The value of `KAFKA_BOOTSTRAP_SERVERS`, nil if it is not set or empty.
let realCluster = SharedCluster.servers

/// A cluster with the topics of a catalog.
struct ClusterUnderTest {
  let bootstrapServers: String
  /// Nil if the cluster is a real one.
  let embedded: EmbeddedCluster?

  /// The prefix of every topic name. On a real cluster no other test uses it.
  static var topicPrefix: String { realCluster == nil ? "" : "\(SharedCluster.uniqueName())." }

  init(_ catalog: TopicCatalog) async throws {
    guard let realCluster else {
      let cluster = try EmbeddedCluster()
      try cluster.create(catalog)
      embedded = cluster
      bootstrapServers = cluster.bootstrapServers
      return
    }
    embedded = nil
    bootstrapServers = realCluster
    let admin = KafkaAdmin(KafkaConfiguration(bootstrapServers: realCluster, clientID: "ingress-test"))
    let brokers = try await admin.describeCluster(timeout: .seconds(30)).brokerCount
    for topic in catalog.topics.map({ $0.fitted(to: brokers) }) {
      try await admin.createTopic(
        topic.topic, partitions: topic.lanes, replicationFactor: topic.replication, settings: topic.settings,
        timeout: .seconds(30))
    }
  }
}
