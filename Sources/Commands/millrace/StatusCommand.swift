// `millrace status`

import ArgumentParser
import Console
import MillraceCore
import Operations

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show the workers, what needs attention, Apple's limits, refusals, the database and the quarantine.",
    discussion: """
      Reads what the console shows, once, and asks Kafka for the members of each worker's group. A configured worker \
      without a process says so. What needs attention is below the table, the first cause first. Prints JSON lines to a \
      pipe; these also have the version and the lanes of each process, the lag of each lane, and the waiting records of \
      each retry delay by reason. Exits with 1 if a worker has no process.

      Examples:
        millrace status
        millrace status --json | jq 'select(.processes == [])'
        millrace status --json | jq '.conditions[]?'
      """)

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let configuration = try command.shared.load().configuration
      let kafka = try configuration.cluster(console)
      let status = try await DeploymentStatus.read(configuration, kafka)
      let out = console.out
      try out.lines(
        command.output.wantsJSON(console)
          ? status.jsonLines(configuration.alerts)
          : status.lines(configuration.alerts, lineWidth: out.width, usesColor: out.usesColor))
      return status.isComplete ? .success : .failure
    }
  }
}
