// From settings to a log.

internal import Kafka
public import Logging

extension KafkaLog {
  /// The log that settings name, its clients reporting to the process's log and metrics.
  ///
  /// - Parameters:
  ///   - settings: `kafka` of the configuration; secrets are read now.
  ///   - clientID: What brokers log, followed by what each client is for.
  ///   - bootstrapServers: Instead of the settings': the address of an embedded cluster that was started.
  ///   - timeout: How long the cluster may take to say what it is.
  /// - Throws: ``MillraceError`` that names the file that cannot be read; ``KafkaError`` where no broker answered.
  public static func connect(
    _ settings: KafkaSettings, clientID: String, bootstrapServers: String? = nil, timeout: Duration, logger: Logger
  ) async throws -> KafkaLog {
    try await connect(
      try settings.client(clientID: clientID, bootstrapServers: bootstrapServers), timeout: timeout
    ) { client in
      .reporting(client: client, to: logger)
    }
  }
}
