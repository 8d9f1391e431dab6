import Foundation
import KafkaClient
import Logging
import MillraceCore
import ServiceLifecycle
import Synchronization
import TestEnvironment
import Testing

@testable import Postgres

/// Counts the assignments that a writer logs.
private struct AssignmentCounter: LogHandler {
  let count: SharedCount
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info
  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    if event.message == "assigned" { count.value.withLock { $0 += 1 } }
  }
}

private final class SharedCount: Sendable {
  let value = Mutex(0)
}

@Suite(.enabled(if: PostgresServer.programs != nil, "\(PostgresServer.absence)"), .timeLimit(.minutes(10)))
struct RebalanceTests {
  private func wait(atMost limit: Duration, until holds: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + limit
    while try await !holds() {
      guard ContinuousClock.now < end else { return false }
      try await Task.sleep(for: .milliseconds(50))
    }
    return true
  }

  @Test func `a look-up that is not answered does not delay a rebalance`() async throws {
    try await PostgresServer.run { server in
      _ = try await Migrator(server.connect(), schema: "millrace").migrate()
      // The group's broker answers at once. The topic's broker does not answer ListOffsets.
      let cluster = try EmbeddedCluster(brokers: 2)
      let topic = "appstore.purchases"
      try cluster.createTopic(topic, partitions: 2)
      try cluster.setCoordinator(ofGroup: PostgresSettings.group, to: 1)
      for partition in Int32(0)..<2 {
        try cluster.setLeader(of: TopicPartition(topic: topic, partition: partition), to: 2)
      }
      try cluster.delayAnswers(apiKey: 2, of: 2, by: .seconds(120), count: 50)
      let kafka = KafkaConfiguration(
        bootstrapServers: cluster.bootstrapServers,
        properties: ["session.timeout.ms": "6000", "heartbeat.interval.ms": "500"], clientID: "postgres")
      var configuration = MillraceConfiguration()
      configuration.postgres = server.settings { $0.tables = [.purchases] }
      let assignments = SharedCount()
      let writer = try await PostgresWriter(
        configuration, kafka: kafka, metrics: PostgresMetrics(), status: WriterStatus(),
        logger: Logger(label: "test") { _ in AssignmentCounter(count: assignments) })
      let services = ServiceGroup(
        configuration: .init(services: [writer], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
      let other = try KafkaConsumer(kafka, subscription: .group(PostgresSettings.group, topics: [topic]))
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await services.run() }
        // The writer has read its positions, and looks up the ends of the partitions.
        let query =
          "SELECT count(*) FROM pg_stat_activity WHERE state = 'idle' AND query LIKE 'SELECT topic, \"partition\", next%'"
        let isLooking = try await wait(atMost: .seconds(60)) { try await server.value(query) == "1" }
        #expect(isLooking)
        group.addTask { try await other.run() }
        group.addTask {
          for await event in other.events {
            if case .revoked(let revocation) = event { revocation.complete() }
          }
        }
        let began = ContinuousClock.now
        let isQuick = try await wait(atMost: .seconds(20)) { assignments.value.withLock { $0 } > 1 }
        let time = ContinuousClock.now - began
        #expect(isQuick, "the writer kept its partitions for \(time)")
        print("millrace-postgres was assigned again after \(time)")
        other.shutDown()
        await services.triggerGracefulShutdown()
        try await group.waitForAll()
      }
    }
  }
}
