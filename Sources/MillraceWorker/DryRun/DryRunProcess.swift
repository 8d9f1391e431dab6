// A dry run as a process of the worker's own program. `millrace replay` starts it and passes the commands on.

internal import AppStore
internal import AppStoreServerAPI
package import ArgumentParser
internal import KafkaClient
package import MillraceCore
internal import MillraceRecords
internal import ServiceLifecycle

/// The option of a worker's program.
package struct DryRunOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Do without effects what the commands on standard input say, print what would become of the records and this many "
        + "differences as JSON, and exit. `millrace replay --reapply --dry-run` starts it.",
      valueName: "count", visibility: .private))
  package var dryRun: Int?

  package init() {}
}

extension WorkerProcess {
  /// Executes the commands of one run on standard input without effects, and prints the report.
  /// - Parameters:
  ///   - types: The types whose workers the program runs.
  ///   - program: The process's name in logs and in Kafka.
  package static func dryRun(
    _ types: [any NotificationWorker.Type], as program: String, _ configuration: MillraceConfiguration,
    showing shown: Int
  ) async throws -> ExitStatus {
    var commands: [OperationCommand] = []
    while let line = readLine() {
      guard case .command(let command)? = OperationsRecord(try JSON(parsing: Array(line.utf8))) else {
        throw MillraceError(
          .lifecycle, "a line of standard input is not a command", at: "--dry-run",
          remedy: "start the dry run with millrace replay")
      }
      commands.append(command)
    }
    guard let name = commands.first?.worker else { return .success }
    let members = try WorkerIdentity.checked(types, in: configuration, only: [name])
    guard let member = members.first else { return .configuration }
    let services = try member.type.bootstrap()
    let process = ProcessHost(program, configuration, helpTexts: WorkerMetrics.helpTexts)
    let policy = configuration.policy(of: name, standard: member.identity.policy)
    let kafka = try configuration.kafka.client(clientID: program)
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30), logger: process.logger)
    let exchange = AsyncHTTPExchange(.init())
    let host = WorkerHost(process.registry)
    let report: DryRunReport?
    do {
      report = try await withThrowingTaskGroup(of: DryRunReport?.self) { group in
        for service in services {
          group.addTask {
            try await service.run()
            return nil
          }
        }
        group.addTask { [commands] in
          try await DryRun.run(
            commands, of: WorkerTopics(member.type, as: member.identity, configuration, policy), on: log,
            showing: shown
          ) { overlay, journal in
            try await runtime(
              member.type, as: member.identity, configuration, policy, log: overlay, exchange: exchange, host: host,
              dryRun: journal, clock: process.clock, logger: process.logger)
          }
        }
        defer { group.cancelAll() }
        while let end = try await group.next() { if let end { return end } }
        return nil
      }
    } catch {
      await host.close()
      try await exchange.shutdown()
      throw error
    }
    await host.close()
    try await exchange.shutdown()
    guard let report else { return .software }
    print(String(decoding: report.json.serialized(), as: UTF8.self))
    return .success
  }
}
