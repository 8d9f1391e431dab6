import Kafka
import Testing

/// A cluster for one test: embedded, with the topics made before any client asks for them.
struct TestCluster {
  let embedded: EmbeddedCluster
  var configuration: KafkaConfiguration { configuration([:]) }

  init(topics: [String: Int], brokers: Int = 1) throws {
    embedded = try EmbeddedCluster(brokers: brokers)
    for (topic, partitions) in topics { try embedded.createTopic(topic, partitions: partitions) }
  }

  func configuration(_ properties: [String: String]) -> KafkaConfiguration {
    KafkaConfiguration(bootstrapServers: embedded.bootstrapServers, properties: properties, clientID: "test")
  }

  /// Runs a producer for the length of `body`.
  func withProducer<Value: Sendable>(
    _ properties: [String: String] = [:], sendTimeout: Duration = .seconds(20),
    _ body: (KafkaProducer) async throws -> Value
  ) async throws -> Value {
    let producer = try KafkaProducer(configuration(properties), sendTimeout: sendTimeout)
    let running = Task { try await producer.run() }
    let result: Result<Value, any Error>
    do { result = .success(try await body(producer)) } catch { result = .failure(error) }
    producer.shutDown()
    try await running.value
    return try result.get()
  }

  /// Reads `count` records of a partition from its beginning.
  func read(_ count: Int, from partition: TopicPartition) async throws -> [ConsumerRecord] {
    let consumer = try KafkaConsumer(
      configuration(["fetch.wait.max.ms": "10"]), subscription: .partitions([partition: .earliest]))
    let running = Task { try await consumer.run() }
    var records: [ConsumerRecord] = []
    reading: for await event in consumer.events {
      switch event {
      case .assigned(let queues):
        let queue = try #require(queues.first)
        while records.count < count {
          let batch = try await queue.nextBatch(upTo: count - records.count)
          if batch.isEmpty { break }
          records += batch
        }
        consumer.shutDown()
      case .revoked(let revocation): revocation.complete()
      }
    }
    try await running.value
    return records
  }
}
