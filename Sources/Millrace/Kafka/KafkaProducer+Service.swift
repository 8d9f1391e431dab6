// Kafka's clients as services: started and stopped with the process, in order.

public import Kafka
public import ServiceLifecycle

/// Runs a producer; a graceful shutdown waits for every record it has taken.
public struct ProducerService: Service {
  private let producer: KafkaProducer

  /// A service around a producer that nothing else runs.
  public init(_ producer: KafkaProducer) { self.producer = producer }

  /// Serves the producer until shut down.
  /// - Throws: ``KafkaError`` where the client met a fatal error and the process has to start anew.
  public func run() async throws {
    try await withGracefulShutdownHandler {
      try await producer.run()
    } onGracefulShutdown: {
      producer.shutDown()
    }
  }
}
