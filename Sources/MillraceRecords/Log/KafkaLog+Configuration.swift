internal import KafkaClient
package import Logging
package import MillraceCore

extension KafkaLog {
  /// Connects to the cluster in `settings`. The clients report to the process's log and metrics.
  ///
  /// - Parameters:
  ///   - settings: The section `kafka` of the configuration. Its secrets are read now.
  ///   - clientID: The client id that brokers log, followed by the purpose of each client.
  ///   - bootstrapServers: The address of a running embedded cluster; overrides the settings.
  ///   - timeout: How long to wait for the cluster's metadata.
  /// - Throws: ``MillraceError`` that names the unreadable file; ``KafkaError`` if no broker answered.
  package static func connect(
    _ settings: KafkaSettings, clientID: String, bootstrapServers: String? = nil, timeout: Duration, logger: Logger
  ) async throws -> KafkaLog {
    var kafka = try settings.client(clientID: clientID, bootstrapServers: bootstrapServers)
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
