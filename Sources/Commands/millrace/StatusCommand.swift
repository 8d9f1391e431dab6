// `millrace status`

import ArgumentParser
import Console
import MillraceCore
import Operations

struct StatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show each worker: its processes, lag, retries and dead letters.",
    discussion: """
      Reads what the console shows, once, and asks Kafka for the members of each worker's group. A configured worker \
      without a process says so. Prints a table on a terminal and JSON lines to a pipe; these also have the lanes of each \
      process, the lag of each lane, and the waiting records of each retry delay. Exits with 1 if a worker has no process.

      Examples:
        millrace status
        millrace status --json | jq 'select(.processes == [])'
      """)

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let configuration = try command.shared.load().configuration
      let kafka = try configuration.kafka.outsideClient().reporting { console.err.note($0) }
      let status = try await DeploymentStatus.read(configuration, kafka)
      let out = console.out
      try out.lines(
        command.output.wantsJSON(console)
          ? status.jsonLines : status.lines(lineWidth: out.width, usesColor: out.usesColor))
      return status.isComplete ? .success : .failure
    }
  }
}
