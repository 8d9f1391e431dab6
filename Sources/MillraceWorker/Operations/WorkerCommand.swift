// The command line of a worker, which is the same for all workers.

internal import ArgumentParser
internal import MillraceCore
internal import MillraceRecords

extension NotificationWorker {
  /// The entry point for `@main`. Accepts `--config`, `--print-config`, `--reference`, `--help` and
  /// `--version`.
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
      abstract: "Processes App Store Server Notifications with the worker \(Worker.name).",
      discussion: """
        Reads \(Worker.families.map(\.rawValue).sorted().joined(separator: ", ")) from Kafka. Metrics and probes are on \
        the admin port. Several processes can share the work.

        Examples:
          \(program) --config millrace.yaml
          \(program) --config millrace.yaml --print-config
          MILLRACE_KAFKA_BOOTSTRAP_SERVERS=kafka:9092 \(program) --config millrace.yaml
        """,
      version: MillraceVersion.text)
  }

  @OptionGroup var process: ProcessOptions
  @OptionGroup var dryRun: DryRunOptions

  @Flag(help: "Print the reference of the worker's own settings as Markdown, and exit.")
  var reference = false

  func run() async throws {
    let form = Worker.settingsForm
    guard !reference else { return print(ConfigurationReference.settings(form), terminator: "") }
    try await process.run(Worker.name, workers: [form]) { configuration in
      guard let shown = dryRun.dryRun else {
        return try await WorkerProcess.run([Worker.self], as: Worker.name, configuration)
      }
      return try await WorkerProcess.dryRun([Worker.self], as: Worker.name, configuration, showing: shown)
    }
  }
}
