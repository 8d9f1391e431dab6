// The cluster a test runs against: embedded, or the real one that KAFKA_BOOTSTRAP_SERVERS names. Topics are the test's
// own either way, so that suites may run side by side and again.

import Foundation
import Kafka
import Millrace

/// `KAFKA_BOOTSTRAP_SERVERS`, where it names a real Kafka: set and not empty.
let realCluster = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"].flatMap { $0.isEmpty ? nil : $0 }

/// A cluster with the topics of a catalog.
struct ClusterUnderTest {
  let bootstrapServers: String
  /// Nil where the cluster is a real one.
  let embedded: EmbeddedCluster?

  /// A name before every topic's that no other test has.
  static var topicPrefix: String { realCluster == nil ? "" : "test-\(UUID().uuidString.prefix(8).lowercased())." }

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
