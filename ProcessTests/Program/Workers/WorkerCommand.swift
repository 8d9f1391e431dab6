// The subcommand that runs a worker as a process.

import ArgumentParser
import MillraceCore
import MillraceWorker

/// A worker that only scenarios run.
protocol ScenarioWorker: NotificationWorker {
  static var subcommand: String { get }
  static var abstract: String { get }
}

struct WorkerCommand<Worker: ScenarioWorker>: AsyncParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: Worker.subcommand, abstract: Worker.abstract)
  }

  @OptionGroup var process: ProcessOptions
  @OptionGroup var dryRun: DryRunOptions

  func run() async throws {
    try await process.run(Worker.name) { configuration in
      guard let shown = dryRun.dryRun else {
        return try await WorkerProcess.run([Worker.self], as: Worker.name, configuration)
      }
      return try await WorkerProcess.dryRun([Worker.self], as: Worker.name, configuration, showing: shown)
    }
  }
}
