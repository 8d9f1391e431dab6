// The command line of `millrace-worker`.

package import ArgumentParser
internal import MillraceCore
internal import MillraceWorker

/// Runs the workers whose handler is an HTTP endpoint.
package struct HTTPWorkerCommand: AsyncParsableCommand {
  /// The name, help and version.
  package static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "millrace-worker",
      abstract: "Runs the workers whose handlers are HTTP endpoints, and the webhooks.",
      discussion: """
        Runs the workers that have a `handler` in the configuration, which process App Store Server Notifications, and \
        the entries under `webhooks`, which post events to URLs: all of them, or those that are named. Several processes \
        can share the work. Metrics and probes are on the admin port.

        Examples:
          millrace-worker --config millrace.yaml
          millrace-worker winback mailer --config millrace.yaml
          millrace-worker webhook-crm --config millrace.yaml
          millrace-worker --config millrace.yaml --print-config
        """,
      version: MillraceVersion.text)
  }

  @Argument(help: "The workers to run. Default: all that have a handler, and all webhooks.")
  var workers: [String] = []

  @OptionGroup var process: ProcessOptions
  @OptionGroup var dryRun: DryRunOptions

  /// Creates the command.
  package init() {}

  /// Runs the workers until the process is told to shut down.
  package func run() async throws {
    try await process.run(
      "millrace-worker", workers: [HTTPWorker.settingsForm, WebhookWorker.settingsForm(named: "webhook-<name>")]
    ) {
      let (types, program): ([any NotificationWorker.Type], _) = (
        [HTTPWorker.self, WebhookWorker.self], HTTPWorker.name
      )
      guard let shown = dryRun.dryRun else {
        return try await WorkerProcess.run(types, as: program, $0, only: workers)
      }
      return try await WorkerProcess.dryRun(types, as: program, $0, showing: shown)
    }
  }
}
