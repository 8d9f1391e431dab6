package import KafkaClient
package import Logging
internal import MillraceCore

extension KafkaLog {
  /// Connects to a cluster. The clients report to the process's log and metrics.
  ///
  /// - Parameters:
  ///   - kafka: The cluster. Its client id is followed by the purpose of each client.
  ///   - timeout: How long to wait for the cluster's metadata.
  /// - Throws: ``KafkaError`` if no broker answered.
  package static func connect(
    _ kafka: KafkaConfiguration, timeout: Duration, logger: Logger
  ) async throws -> KafkaLog {
    var kafka = kafka
    let servers = kafka.bootstrapServers
    logger.info("connecting to Kafka", metadata: ["servers": "\(servers)"])
    kafka.reporter = ConnectionReporter { problems in
      logger.warning(
        "Kafka does not answer yet; retrying",
        metadata: ["servers": "\(servers)", "problems": .array(problems.map { "\($0)" })])
    }
    return try await connect(kafka, timeout: timeout) { client in
      .reporting(client: client, to: logger)
    }
  }
}
