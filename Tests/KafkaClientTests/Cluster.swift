import KafkaClient
import Testing

/// The cluster of a test.
protocol Cluster: Sendable {
  func configuration(_ properties: [String: String]) -> KafkaConfiguration
}

/// An embedded cluster for one test. Its topics exist before any client connects.
struct TestCluster: Cluster {
  let embedded: EmbeddedCluster

  init(topics: [String: Int], brokers: Int = 1) throws {
    embedded = try EmbeddedCluster(brokers: brokers)
    for (topic, partitions) in topics { try embedded.createTopic(topic, partitions: partitions) }
  }

  func configuration(_ properties: [String: String]) -> KafkaConfiguration {
    KafkaConfiguration(bootstrapServers: embedded.bootstrapServers, properties: properties, clientID: "test")
  }
}

extension Cluster {
  var configuration: KafkaConfiguration { configuration([:]) }

  /// Runs a producer while `body` runs.
  func withProducer<Value: Sendable>(
    _ properties: [String: String] = [:], sendTimeout: Duration = .seconds(20),
    _ body: (KafkaProducer) async throws -> Value
  ) async throws -> Value {
    let producer = try KafkaProducer(configuration(properties), sendTimeout: sendTimeout)
    return try await running(producer.run, until: producer.shutDown) { try await body(producer) }
  }

  /// Initializes a transactional producer and runs it while `body` runs.
  func withTransactions<Value: Sendable>(
    as id: String, _ body: (KafkaTransactionalProducer) async throws -> Value
  ) async throws -> Value {
    let producer = try KafkaTransactionalProducer(configuration, transactionalID: id)
    return try await running(producer.run, until: producer.shutDown) {
      try await producer.initialize(timeout: .seconds(30))
      return try await body(producer)
    }
  }

  /// Reads `count` records of a partition from its beginning.
  func read(_ count: Int, from partition: TopicPartition) async throws -> [ConsumerRecord] {
    let consumer = try KafkaConsumer(
      configuration(["fetch.wait.max.ms": "10"]), subscription: .partitions([partition: .earliest]))
    return try await running(consumer.run, until: consumer.shutDown) {
      var records: [ConsumerRecord] = []
      for await case .assigned(let queues) in consumer.events {
        let queue = try #require(queues.first)
        while records.count < count { records += try await queue.nextBatch(upTo: count - records.count) }
        break
      }
      return records
    }
  }
}

/// Runs a client while `body` runs.
func running<Value: Sendable>(
  _ run: @escaping @Sendable () async throws -> Void, until shutDown: () -> Void, _ body: () async throws -> Value
) async throws -> Value {
  let running = Task { try await run() }
  let result = await Result(body)
  shutDown()
  try await running.value
  return try result.get()
}

extension Result where Failure == any Error {
  /// Captures the value or the error of an asynchronous body.
  init(_ body: () async throws -> Success) async {
    do { self = .success(try await body()) } catch { self = .failure(error) }
  }
}

/// Returns the error that `body` throws. For bodies with expectations of their own, as `#expect` cannot be nested.
func failure(_ body: () async throws -> Void) async -> (any Error)? {
  switch await Result(body) {
  case .success: nil
  case .failure(let error): error
  }
}
