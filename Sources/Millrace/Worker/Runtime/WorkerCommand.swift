// The command line of a worker: the same for every one of them.

internal import ArgumentParser

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

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

  @Option(help: "The configuration file; without it $MILLRACE_CONFIG, or the environment alone.")
  var config: String?

  @Flag(help: "Print the effective configuration with its sources, secrets masked, and exit.")
  var printConfig = false

  func run() async throws {
    let status: ExitStatus
    do {
      let loaded = try LoadedConfiguration.load(path: config, environment: ProcessInfo.processInfo.environment)
      if printConfig {
        print(loaded.rendered(), terminator: "")
        return
      }
      status = try await WorkerProcess.run(Worker.self, loaded.configuration)
    } catch {
      status = ProcessRunner.explain(error, name: Worker.name)
    }
    throw ExitCode(status.rawValue)
  }
}
