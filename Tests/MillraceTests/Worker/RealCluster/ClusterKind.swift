// The clusters that a worker's runtime is run on: librdkafka's embedded one, where it commits at least once, and the one
// that KAFKA_BOOTSTRAP_SERVERS names, where it commits in transactions.

import Foundation
import Kafka
@testable import Millrace
import Testing

enum ClusterKind: String, CaseIterable, CustomTestStringConvertible {
  case embedded = "embedded cluster"
  case real = "KAFKA_BOOTSTRAP_SERVERS"

  /// Those that there are.
  static let available: [ClusterKind] = realServers == nil ? [.embedded] : allCases
  static let realServers = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"].flatMap {
    $0.isEmpty ? nil : $0
  }
  /// What a test that needs transactions says when it is skipped.
  static let needsReal: Comment = "needs transactions: set KAFKA_BOOTSTRAP_SERVERS"

  var testDescription: String { rawValue }
  var hasTransactions: Bool { self == .real }
}

/// A connection to a cluster, and the cluster where it is this process's own.
struct Connection {
  let log: KafkaLog
  /// This process's own cluster, where it is that one.
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
      // A member learns of a rebalance by its next heartbeat.
      configuration.properties["heartbeat.interval.ms"] = "200"
      kafka = configuration
      embedded = nil
    }
    log = try await KafkaLog.connect(kafka, timeout: .seconds(30)) { [losses] _ in losses.observer }
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
