// `millrace dead-letters …`

import ArgumentParser
import MillraceTime
import KafkaClient
import MillraceCore
import MillraceRecords
import Operations

struct DeadLettersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead-letters",
    abstract: "List the records that workers gave up on, and requeue or discard them.",
    discussion: """
      Examples:
        millrace dead-letters list
        millrace dead-letters show 3/17 --worker winback
        millrace dead-letters requeue 3/17 --worker winback --why "the template is fixed"
        millrace dead-letters discard --worker winback --reason no-template --app com.example.old --why "sold"
      """,
    subcommands: [
      List.self, Show.self, Requeue.self, Discard.self, PauseCommand<WorkerOptions>.self,
      ResumeCommand<WorkerOptions>.self, StopCommand<WorkerOptions>.self,
    ])

  /// The selection of dead letters.
  struct Selecting: ParsableArguments {
    @Option(help: ArgumentHelp("The reason for the dead letter; may be repeated.", valueName: "code"))
    var reason: [String] = []

    @OptionGroup var selecting: SelectionOptions

    /// The selection from the flags. Times use the worker's clock.
    func selection(in configuration: MillraceConfiguration) throws -> RecordSelection {
      var selection = try selecting.selection(in: configuration, now: MillraceClock(configuration.clock).wallTime)
      selection.reasons = reason
      return selection
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Count dead letters by worker, reason, app and age, or list each.",
      discussion: """
        Prints a table on a terminal and JSON lines to a pipe. Times are those at which the worker gave up; topics are \
        those the records were first read from.

        Examples:
          millrace dead-letters list
          millrace dead-letters list --worker winback --open --each
          millrace dead-letters list --worker winback --each --json | jq 'select(.reason == "attempts-exhausted")'
        """)

    @Option(help: ArgumentHelp("The worker; by default all configured workers.", valueName: "name"))
    var worker: String?

    @Flag(help: "Only those without a requeue or discard.")
    var open = false

    @Flag(help: "List each dead letter, newest last.")
    var each = false

    @Option(help: ArgumentHelp("With --each, the maximum number per worker.", valueName: "count"))
    var limit: Int?

    @OptionGroup var output: OutputOptions
    @OptionGroup var selecting: Selecting
    @OptionGroup var shared: SharedOptions

    func validate() throws {
      if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more, not \(limit).") }
      if limit != nil, !each { throw ValidationError("--limit requires --each.") }
    }

    func run() async throws {
      let command = self
      try await conclude { console in
        let configuration = try command.shared.load().configuration
        let selection = try command.selecting.selection(in: configuration)
        if let worker = command.worker { try configuration.check(worker: worker) }
        let workers = try await WorkerOperations.all(
          command.worker.map { [$0] }, configuration, on: try await configuration.connect(console),
          note: console.noteOnce)
        try await WorkerOperations.check(reasons: selection.reasons, of: workers)
        let (out, asJSON) = (console.out, command.output.wantsJSON(console))
        guard command.each else {
          var groups = DeadLetterGroups()
          for worker in workers {
            groups.add(try await worker.deadLetterGroups(selection, isOpenOnly: command.open))
          }
          // Report an empty list: no output at all could mean that nothing was read.
          if asJSON, groups.count == 0 { console.err.note(groups.summary) }
          try out.lines(asJSON ? groups.jsonLines : groups.lines(lineWidth: out.width, usesColor: out.usesColor))
          return .success
        }
        for worker in workers {
          let entries = try await worker.deadLetters(selection, isOpenOnly: command.open, limit: command.limit)
          if asJSON {
            if entries.isEmpty { console.err.note(DeadLetterGroups().summary) }
            for entry in entries { try out.line(entry.jsonLine) }
          } else {
            if workers.count > 1 { try out.line(worker.name) }
            let table = DeadLetterEntry.lines(entries, lineWidth: out.width, usesColor: out.usesColor)
            let summary = DeadLetterGroups.summary(entries.count, open: entries.count(where: \.isOpen))
            try out.lines(table + (table.isEmpty ? [] : [""]) + [summary])
          }
        }
        return .success
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show one dead letter: its record, its failures, and how to requeue it.",
      discussion: """
        Payloads are personal data and shown only with --payload. They are decoded, not verified.

        Examples:
          millrace dead-letters show 3/17 --worker winback
          millrace dead-letters show 3/17 --worker winback --payload --json | jq .record.payload
        """)

    @Argument(help: ArgumentHelp("The ID of the dead letter.", valueName: "id"))
    var id: String

    @Flag(help: "Also show the signed payload and the IDs of the purchase.")
    var payload = false

    @OptionGroup var options: WorkerOptions

    func run() async throws {
      let command = self
      try await conclude { console in
        let id = try DeadLetterID(command.id)
        let operations = try await command.options.operations(console: console)
        let (letter, record) = try await operations.deadLetter(id)
        if command.options.output.wantsJSON(console) {
          try console.out.line(letter.jsonLine(of: record, withPayload: command.payload))
        } else {
          try console.out.lines(
            letter.lines(of: record, withPayload: command.payload, usesColor: console.out.usesColor))
        }
        return .success
      }
    }
  }

  /// The options of requeue and discard.
  struct Settling: ParsableArguments {
    @Argument(help: ArgumentHelp("IDs of dead letters; without any, the flags select.", valueName: "id"))
    var ids: [String] = []

    @Option(help: ArgumentHelp("The reason; it is stored in the operations log.", valueName: "text"))
    var why: String

    @Flag(help: "All open dead letters of the worker, if no other flag selects.")
    var all = false

    @OptionGroup var selecting: Selecting
    @OptionGroup var pace: PaceOptions
    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var options: WorkerOptions

    func validate() throws {
      if why.allSatisfy(\.isWhitespace) { throw ValidationError("--why must not be empty; it is put on record.") }
      let isChosen = selecting.selecting.isChosen || !selecting.reason.isEmpty
      if !ids.isEmpty, isChosen || all {
        throw ValidationError("Pass either IDs or selection flags, not both.")
      }
      if ids.isEmpty, !isChosen, !all {
        throw ValidationError("Pass IDs, selection flags such as --reason, or --all.")
      }
    }

    func settle(by action: OperationReport.Action, on console: Console) async throws -> CommandStatus {
      let asJSON = options.output.wantsJSON(console)
      var ids = try ids.map { try DeadLetterID($0) }
      let configuration = try options.shared.load().configuration
      let operations = try await options.operations(
        author: pace.dryRun ? "" : try commanding.author, console: console)
      let selection = self.ids.isEmpty ? try selecting.selection(in: configuration) : nil
      if let selection {
        try await WorkerOperations.check(reasons: selection.reasons, of: [operations])
        let letters = try await operations.deadLetters(selection, isOpenOnly: true, limit: pace.limit)
        ids = letters.map(\.id)
        if pace.dryRun {
          let samples = Array(letters.prefix(10))
          let (out, count) = (console.out, HumanText.count(letters.count, "dead letter"))
          try out.lines(
            asJSON
              ? samples.map(\.jsonLine)
              : DeadLetterEntry.lines(samples, lineWidth: out.width, usesColor: out.usesColor))
          console.err.note("\(count) would be \(action.participle).")
          return .success
        }
      } else if pace.dryRun {
        for id in ids { _ = try await operations.deadLetter(id) }
        console.err.note("\(HumanText.count(ids.count, "dead letter")) would be \(action.participle).")
        return .success
      }
      let reporter = Reporter<OperationReport>(console.out, asJSON: asJSON)
      let summary = try await operations.settle(
        ids, by: action, why: why, selection: selection, rate: pace.rate, patience: commanding.patience,
        begun: { run in
          console.err.note("run \(run); to stop it: millrace dead-letters stop \(run.prefix(8)) …")
        }, report: reporter.report)
      console.err.note(summary.sentence)
      return summary.status
    }
  }

  struct Requeue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Requeue dead letters, each once: the first command for a dead letter wins.",
      discussion: """
        The worker itself sends the record to its replay topic, so it must be running. If the record fails again, it \
        becomes a new dead letter with a new ID and the history of the old one. Exits with 1 if a command failed, was \
        superseded, or was not answered in time.

        Examples:
          millrace dead-letters requeue 3/17 --worker winback --why "the template is fixed"
          millrace dead-letters requeue --worker winback --reason attempts-exhausted --since 2h --why "outage" --dry-run
          millrace dead-letters requeue --worker winback --all --rate 20 --why "outage of 3 March" --wait 5m
        """)

    @OptionGroup var settling: Settling

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        try await command.settling.settle(by: .requeue, on: console)
      }
    }
  }

  struct Discard: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Discard dead letters for good, each once: the first command for a dead letter wins.",
      discussion: """
        Nothing is deleted: the letter stays in its topic, and the operations log records who discarded it and why.

        Examples:
          millrace dead-letters discard 3/17 --worker winback --why "a test purchase"
          millrace dead-letters discard --worker winback --environment Sandbox --why "sandbox" --dry-run
        """)

    @OptionGroup var settling: Settling

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        try await command.settling.settle(by: .discard, on: console)
      }
    }
  }
}
