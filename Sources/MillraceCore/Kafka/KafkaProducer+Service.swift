package import KafkaClient
internal import ServiceLifecycle

/// Runs a producer as a service. A graceful shutdown waits for every record that the producer has accepted.
package struct ProducerService: Service {
  private let producer: KafkaProducer

  /// Creates a service for a producer that nothing else runs.
  package init(_ producer: KafkaProducer) { self.producer = producer }

  /// Runs the producer until the service shuts down. A fatal error of the producer does not end it: the producer
  /// replaces its client.
  package func run() async throws {
    try await withGracefulShutdownHandler {
      try await producer.run()
    } onGracefulShutdown: {
      producer.shutDown()
    }
  }
}
