// `millrace workers`

import AppStore
import ArgumentParser
import MillraceCore
import MillraceWorker

struct WorkersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "workers",
    abstract: "Run several workers in one process.",
    discussion: """
      For a small deployment: one process takes much less memory than one for each worker. It needs the credentials of all \
      its workers, and if one of them ends with an error, all of them stop. Several processes can share the work, and a \
      worker can move between such a process and its own program at any time. The ingress stays a process of its own, \
      because it faces the internet. Metrics and probes are on the admin port.

      Examples:
        millrace workers --config millrace.yaml
        millrace workers subscriptions refunds --config millrace.yaml
      """)

  @Argument(
    help:
      "The workers to run. Default: all that the configuration names under `workers` and `webhooks`, except your own.")
  var workers: [String] = []

  @OptionGroup var process: ProcessOptions

  func run() async throws {
    try await process.run(Self.program, workers: ShippedWorkers.forms) { configuration in
      let names = workers.isEmpty ? configuration.workerNames : workers
      if let name = workers.first(where: { ShippedWorkers.program(of: $0, in: configuration) == nil }) {
        throw MillraceError(
          .configuration, "no worker of Millrace is named \(name)", at: "workers",
          remedy: NearestName.of(name, among: Self.candidates(in: configuration)).map { "did you mean \($0)?" }
            ?? "name workers of this configuration; start your own with their own programs")
      }
      let shipped = names.filter { ShippedWorkers.program(of: $0, in: configuration) != nil }
      guard !shipped.isEmpty else {
        throw MillraceError(
          .configuration, "the configuration names no worker of Millrace", at: "workers",
          remedy: "name the workers to run, such as millrace workers subscriptions refunds")
      }
      return try await WorkerProcess.run(
        ShippedWorkers.members(running: shipped, in: configuration).map(\.type), as: Self.program, configuration,
        only: shipped)
    }
  }

  private static let program = "millrace-workers"

  /// The names that the command accepts.
  private static func candidates(in configuration: MillraceConfiguration) -> [String] {
    (configuration.workerNames + ShippedWorkers.all.map { $0.type.name })
      .filter { ShippedWorkers.program(of: $0, in: configuration) != nil }
  }
}
