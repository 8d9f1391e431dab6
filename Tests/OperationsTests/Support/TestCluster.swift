// An embedded cluster for one test. Its topics exist before any client requests them.

import KafkaClient
import MillraceRecords

@testable import Operations

struct TestCluster {
  let embedded: EmbeddedCluster

  init(_ catalog: TopicCatalog) throws {
    embedded = try DevelopmentCluster.start(catalog: catalog, brokers: 1)
  }

  var configuration: KafkaConfiguration {
    KafkaConfiguration(bootstrapServers: embedded.bootstrapServers, clientID: "test")
  }

  /// Writes records in order and returns their positions.
  @discardableResult
  func write(_ records: [ProducerRecord]) async throws -> [RecordPosition] {
    let producer = try KafkaProducer(configuration)
    let running = Task { try await producer.run() }
    var positions: [RecordPosition] = []
    for record in records { positions.append(try await producer.send(record)) }
    producer.shutDown()
    try await running.value
    return positions
  }

  /// Returns all records of a topic.
  func read(_ topic: String) async throws -> [ConsumerRecord] {
    let log = try await KafkaLog.connect(configuration, timeout: .seconds(60))
    let records = try await log.fold(log.presentOffsets(of: [topic]), into: [ConsumerRecord]()) { $0 += $1.records }
    return records.sorted { ($0.partition, $0.offset) < ($1.partition, $1.offset) }
  }
}
