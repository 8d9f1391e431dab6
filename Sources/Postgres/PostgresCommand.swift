// The command line of millrace-postgres: the process, and the commands for its schema.

package import ArgumentParser
internal import Foundation
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

/// The command line of `millrace-postgres`.
package struct PostgresCommand: AsyncParsableCommand {
  /// Name, help and version.
  package static let configuration = CommandConfiguration(
    commandName: "millrace-postgres",
    abstract: "Writes subscriptions, purchases, events and decoded notifications to PostgreSQL.",
    discussion: """
      Without a subcommand it runs until it is stopped. `millrace postgres` runs the same commands.

      Examples:
        millrace-postgres migrate --config millrace.yaml
        millrace-postgres --config millrace.yaml
        millrace-postgres status --config millrace.yaml
      """,
    version: MillraceVersion.text, subcommands: [Run.self, Migrate.self, Status.self], defaultSubcommand: Run.self)

  /// Creates a command without arguments.
  package init() {}
}

extension PostgresCommand {
  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Write until the process is stopped.")

    @OptionGroup var process: ProcessOptions

    func run() async throws { try await process.run("millrace-postgres", serving: serve) }

    private func serve(_ configuration: MillraceConfiguration) async throws -> ExitStatus {
      let host = ProcessHost("millrace-postgres", configuration, helpTexts: PostgresMetrics.helpTexts)
      guard configuration.postgres.url != nil else {
        throw MillraceError(
          .configuration, "no database is configured", at: "postgres.url",
          remedy: "set the connection URI of the database")
      }
      let status = WriterStatus()
      let kafka = try configuration.kafka.client(clientID: "millrace-postgres")
      let writer = try await PostgresWriter(
        configuration, kafka: kafka, metrics: PostgresMetrics(), status: status, logger: host.logger)
      let log = try await KafkaLog.connect(kafka, timeout: .seconds(30), logger: host.logger)
      // A name for the time of the process. The next one has another, and this one's report ends.
      let instance = String(UInt64.random(in: .min ... .max), radix: 36)
      let reporter = ProcessReporter(
        topic: configuration.topics.prefix + WorkerTopics.controlTopic, log: log, logger: host.logger
      ) { [status.report(instance)] }
      return await host.run([writer], after: [reporter], checks: [status.check])
    }
  }

  struct Migrate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Create the schema, or bring it to this version.",
      discussion: """
        Migrations only add, so a process of the version before keeps working until it is restarted; then it refuses to \
        start on the newer schema.

        Example:
          millrace-postgres migrate --config millrace.yaml
        """)

    @OptionGroup var process: ProcessOptions

    func run() async throws {
      try await process.run("millrace-postgres") { configuration in
        let connection = try await PostgresConnection.open(
          configuration.postgres, application: "millrace-postgres migrate")
        let migrator = Migrator(connection, schema: configuration.postgres.schema)
        let applied = try await migrator.migrate { print("applied \($0.version): \($0.name)") }
        if applied.isEmpty {
          print("the schema \(configuration.postgres.schema) has version \(migrator.newest) already")
        }
        return .success
      }
    }
  }

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the schema's version, and how far each topic is written.",
      discussion: """
        On a terminal a table, in a pipe JSON lines.

        Example:
          millrace-postgres status --config millrace.yaml
        """)

    @OptionGroup var process: ProcessOptions

    @Flag(help: "Print JSON lines on a terminal, too.") var json = false
    @Flag(help: "Show only the schema's version. This asks the database and not Kafka.") var schema = false

    func run() async throws {
      try await process.run("millrace-postgres") { configuration in
        try await PostgresStatus(configuration).print(asJSON: json || isatty(1) == 0, onlySchema: schema)
        return .success
      }
    }
  }
}
