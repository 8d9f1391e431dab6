// The command line of a worker: the same for every one of them.

internal import ArgumentParser

extension NotificationWorker {
  /// Runs the worker as a process: `--config`, `--print-config`, `--help`, `--version`. What `@main` calls.
  public static func main() async { await WorkerCommand<Self>.main() }
}

struct WorkerCommand<Worker: NotificationWorker>: AsyncParsableCommand {
  /// The program's name, which may be longer than the worker's.
  private static var program: String {
    CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? Worker.name
  }

  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: program,
      abstract: "Acts on App Store Server Notifications: the worker \(Worker.name).",
      discussion: """
        Reads \(Worker.families.map(\.rawValue).sorted().joined(separator: ", ")) from Kafka. Metrics and probes are on \
        the admin port. Many may run side by side.

        Examples:
          \(program) --config millrace.yaml
          \(program) --config millrace.yaml --print-config
          MILLRACE_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 \(program) --config millrace.yaml
        """,
      version: MillraceVersion.current)
  }

  @OptionGroup var process: ProcessOptions

  func run() async throws {
    try await process.run(Worker.name) { try await WorkerProcess.run(Worker.self, $0) }
  }
}
