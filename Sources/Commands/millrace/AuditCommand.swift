// `millrace audit`

import ArgumentParser
import MillraceTime
import KafkaClient
import MillraceRecords
import Operations
import MillraceCore

struct AuditCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "audit",
    abstract: "Show operators' actions: who, when, why, and with which result.",
    discussion: """
      Lists replays, requeues, discards and backfills with their selections and counts, and who paused, resumed or \
      stopped them. A run without activity for a minute is shown as silent: its process has died, or it waits for a \
      worker that is not running.

      Examples:
        millrace audit
        millrace audit --open
        millrace audit --run 1f0c --json | jq .selection
      """)

  @Flag(help: "Only runs that are not over.")
  var open = false

  @Option(help: ArgumentHelp("Only this run; a prefix of its ID is enough.", valueName: "run"))
  var run: String?

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let command = self
    try await conclude { console in
      let configuration = try command.shared.load().configuration
      let log = try await configuration.connect(console)
      let survey = try await AuditLog(on: log, prefix: configuration.topics.prefix).survey(
        at: MillraceClock.system.wallTime)
      let lines = survey.lines(isOpenOnly: command.open).filter { $0.entry.run.hasPrefix(command.run ?? "") }
      if let run = command.run, lines.isEmpty {
        throw OperationError(
          .usage, command.open ? "no open run has this id" : "no run has this id", at: "--run \(run)",
          remedy: "see millrace audit")
      }
      let out = console.out
      if lines.isEmpty { console.err.note(command.open ? "No open runs." : "No actions recorded.") }
      if command.output.wantsJSON(console) {
        try out.lines(lines.map(\.jsonLine))
      } else {
        try out.lines(
          TextTable.lines(
            AuditSurvey.Line.columns, rows: lines.map(\.row), lineWidth: out.width, usesColor: out.usesColor))
      }
      return .success
    }
  }
}
