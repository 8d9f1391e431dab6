// The clusters for tests of a worker's runtime: librdkafka's embedded cluster with at-least-once commits, and the
// cluster in KAFKA_BOOTSTRAP_SERVERS with transactions.

import KafkaClient
@testable import MillraceRecords
import TestEnvironment
import Testing

enum ClusterKind: String, CaseIterable, CustomTestStringConvertible {
  case embedded = "embedded cluster"
  case real = "KAFKA_BOOTSTRAP_SERVERS"

  /// The kinds that are available in this run.
  static let available: [ClusterKind] = realServers == nil ? [.embedded] : allCases
  static let realServers = SharedCluster.servers
  /// The reason for skipping a test that needs transactions.
  static let needsReal: Comment = "needs transactions: set KAFKA_BOOTSTRAP_SERVERS"

  var testDescription: String { rawValue }
  var hasTransactions: Bool { self == .real }
}

/// A connection to a cluster, with the cluster itself if it is embedded.
struct Connection {
  let log: KafkaLog
  /// The embedded cluster, nil if the cluster is a real one.
  let embedded: EmbeddedCluster?
  let losses = BrokerLosses()
  private let kafka: KafkaConfiguration

  init(_ kind: ClusterKind, brokers: Int = 1, properties: [String: String] = [:], clientID: String) async throws {
    switch kind {
    case .embedded:
      let cluster = try EmbeddedCluster(brokers: brokers)
      kafka = KafkaConfiguration(
        bootstrapServers: cluster.bootstrapServers, properties: properties, clientID: clientID)
      embedded = cluster
    case .real:
      var configuration = KafkaConfiguration(
        bootstrapServers: try #require(ClusterKind.realServers), clientID: clientID)
      // A member learns about a rebalance from its next heartbeat.
      configuration.properties["heartbeat.interval.ms"] = "200"
      configuration.properties.merge(properties) { $1 }
      kafka = configuration
      embedded = nil
    }
    log = try await KafkaLog.connect(kafka, timeout: .seconds(30)) { [losses] _ in losses.observer }
  }

  /// Deletes a topic of a real cluster.
  func deleteTopic(_ name: String) async throws {
    try #require(try await KafkaAdmin(kafka).deleteTopics(withPrefix: name, timeout: .seconds(30)) == 1)
  }

  /// Deletes the records of a partition of a real cluster before an offset.
  func deleteRecords(of partition: TopicPartition, before offset: Int64) async throws {
    try await KafkaAdmin(kafka).deleteRecords(
      before: [CommittedOffset(partition, offset: offset)], timeout: .seconds(30))
  }

  func createTopic(_ name: String, partitions: Int) async throws {
    if let embedded {
      try embedded.createTopic(name, partitions: partitions, replicationFactor: embedded.brokers.count)
    } else {
      try await KafkaAdmin(kafka).createTopic(
        name, partitions: partitions, replicationFactor: 1, settings: ["retention.ms": "-1"], timeout: .seconds(30))
    }
  }
}
