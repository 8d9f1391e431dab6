// `millrace dead-letters list` and `millrace dead-letters requeue`

import ArgumentParser
import Millrace
import Operations

struct DeadLettersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead-letters",
    abstract: "Look at what a worker gave up, and have it tried again.",
    discussion: """
      Examples:
        millrace dead-letters list --worker winback
        millrace dead-letters requeue 3/17 --worker winback --why "the template is fixed"
      """,
    subcommands: [List.self, Requeue.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show a worker's dead letters, those that died last at the end.",
      discussion: """
        A table in a terminal, JSON lines when piped.

        Examples:
          millrace dead-letters list --worker winback --open
          millrace dead-letters list --worker winback --json | jq 'select(.reason == "handler-error")'
        """)

    @Option(help: ArgumentHelp("Only those with this reason; may be repeated.", valueName: "code"))
    var reason: [String] = []

    @Flag(help: "Only those that nobody has done anything about.")
    var open = false

    @OptionGroup var options: WorkerOptions

    func run() async throws {
      let command = self
      try await conclude { console in
        let operations = try await command.options.operations(telling: console)
        let entries = try await operations.deadLetters(reasons: Set(command.reason), isOpenOnly: command.open)
        let out = console.out
        if command.options.json ?? !out.isTerminal {
          // No line at all would leave open whether it was read.
          if entries.isEmpty { console.err.note(DeadLetterTable.summary(entries)) }
          try out.lines(entries.map(\.jsonLine))
        } else {
          try out.lines(DeadLetterTable.lines(entries, lineWidth: out.width, usesColor: out.usesColor))
        }
        return .success
      }
    }
  }

  struct Requeue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Have dead letters tried again, each once: the first command for one wins.",
      discussion: """
        The worker itself sends the record to its replay topic, so it has to run. A dead letter that dies again is a new \
        one with a new id. Ends with 1 when a command failed, came second, or was not answered in time.

        Examples:
          millrace dead-letters requeue 3/17 --worker winback --why "the template is fixed"
          millrace dead-letters requeue 3/17 3/18 0/4 --worker winback --why "outage of 3 March" --wait 5m
        """)

    @Argument(help: ArgumentHelp("Dead letters by their ids.", valueName: "id"))
    var ids: [String]

    @Option(help: ArgumentHelp("The reason; it stays with the record and in the log of operations.", valueName: "text"))
    var why: String

    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var options: WorkerOptions

    func validate() throws {
      if why.allSatisfy(\.isWhitespace) { throw ValidationError("--why says why, for whoever asks later.") }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let ids = try command.ids.map { try DeadLetterID($0) }
        let operations = try await command.options.operations(
          author: command.commanding.author, telling: console)
        let reporter = OperationReporter(console.out, asJSON: command.options.json ?? !console.out.isTerminal)
        let summary = try await operations.requeue(
          ids, why: command.why, patience: command.commanding.patience, report: reporter.report)
        console.err.note(summary.sentence)
        return summary.status
      }
    }
  }
}
