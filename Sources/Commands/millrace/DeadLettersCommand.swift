// `millrace dead-letters …`

import ArgumentParser
import Clocks
import Kafka
import Millrace
import Operations

struct DeadLettersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead-letters",
    abstract: "Look at what workers gave up, have it tried again, or put it aside.",
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

  /// Which dead letters.
  struct Selecting: ParsableArguments {
    @Option(help: ArgumentHelp("Why it died; may be repeated.", valueName: "code"))
    var reason: [String] = []

    @OptionGroup var selecting: SelectionOptions

    func selection(prefix: String) -> RecordSelection {
      var selection = selecting.selection(prefix: prefix, now: MillraceClock.system.wallTime)
      selection.reasons = reason
      return selection
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show dead letters: how many of what worker, reason, app and age; with --each one by one.",
      discussion: """
        A table in a terminal, JSON lines when piped. Times are those at which letters died; topics those they were \
        first read from.

        Examples:
          millrace dead-letters list
          millrace dead-letters list --worker winback --open --each
          millrace dead-letters list --worker winback --each --json | jq 'select(.reason == "attempts-exhausted")'
        """)

    @Option(help: ArgumentHelp("The worker; without it all that the configuration names.", valueName: "name"))
    var worker: String?

    @Flag(help: "Only those that nobody has done anything about.")
    var open = false

    @Flag(help: "One by one, those that died last at the end.")
    var each = false

    @Option(help: ArgumentHelp("With --each, at most so many of a worker.", valueName: "count"))
    var limit: Int?

    @OptionGroup var output: OutputOptions
    @OptionGroup var selecting: Selecting
    @OptionGroup var shared: SharedOptions

    func validate() throws {
      if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more, not \(limit).") }
      if limit != nil, !each { throw ValidationError("--limit goes with --each.") }
    }

    func run() async throws {
      let command = self
      try await conclude { console in
        let configuration = try command.shared.load().configuration
        let kafka = try configuration.kafka.outsideClient()
        let selection = command.selecting.selection(prefix: configuration.topics.prefix)
        console.err.note(kafka.connecting)
        let workers = try await WorkerOperations.all(
          command.worker.map { [$0] }, configuration, kafka, note: console.noteOnce)
        let (out, asJSON) = (console.out, command.output.wantsJSON(console))
        guard command.each else {
          var groups = DeadLetterGroups()
          for worker in workers {
            groups.add(try await worker.deadLetterGroups(selection, isOpenOnly: command.open))
          }
          // No line at all would leave open whether it was read.
          if asJSON, groups.count == 0 { console.err.note(groups.summary) }
          try out.lines(asJSON ? groups.jsonLines : groups.lines(lineWidth: out.width, usesColor: out.usesColor))
          return .success
        }
        for worker in workers {
          let entries = try await worker.deadLetters(selection, isOpenOnly: command.open, limit: command.limit)
          if asJSON {
            if entries.isEmpty { console.err.note(DeadLetterTable.summary(entries)) }
            for entry in entries { try out.line(entry.jsonLine) }
          } else {
            if workers.count > 1 { try out.line(worker.name) }
            try out.lines(DeadLetterTable.lines(entries, lineWidth: out.width, usesColor: out.usesColor))
          }
        }
        return .success
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show one dead letter: what it is, what happened to it, the way back.",
      discussion: """
        Payloads are personal data and shown only with --payload. What is shown was taken apart, not verified.

        Examples:
          millrace dead-letters show 3/17 --worker winback
          millrace dead-letters show 3/17 --worker winback --payload --json | jq .record.payload
        """)

    @Argument(help: ArgumentHelp("The dead letter by its id.", valueName: "id"))
    var id: String

    @Flag(help: "Also what Apple signed, and whose purchase it is.")
    var payload = false

    @OptionGroup var options: WorkerOptions

    func run() async throws {
      let command = self
      try await conclude { console in
        let id = try DeadLetterID(command.id)
        let operations = try await command.options.operations(telling: console)
        let sheet = try await operations.deadLetter(id)
        if command.options.output.wantsJSON(console) {
          try console.out.line(sheet.jsonLine(withPayload: command.payload))
        } else {
          try console.out.lines(sheet.lines(withPayload: command.payload, usesColor: console.out.usesColor))
        }
        return .success
      }
    }
  }

  /// What requeue and discard have in common.
  struct Settling: ParsableArguments {
    @Argument(help: ArgumentHelp("Dead letters by their ids; without any, what the flags choose.", valueName: "id"))
    var ids: [String] = []

    @Option(help: ArgumentHelp("The reason; it stays in the log of operations.", valueName: "text"))
    var why: String

    @Flag(help: "Every open one of the worker, where no flag chooses.")
    var all = false

    @OptionGroup var selecting: Selecting
    @OptionGroup var pace: PaceOptions
    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var options: WorkerOptions

    func validate() throws {
      if why.allSatisfy(\.isWhitespace) { throw ValidationError("--why says why, for whoever asks later.") }
      let isChosen = selecting.selection(prefix: "") != RecordSelection()
      if !ids.isEmpty, isChosen || all {
        throw ValidationError("Name dead letters by ids, or choose by flags; not both.")
      }
      if ids.isEmpty, !isChosen, !all {
        throw ValidationError("Name dead letters by ids, choose by flags such as --reason, or pass --all.")
      }
    }

    func settle(by action: OperationReport.Action, on console: Console) async throws -> CommandStatus {
      let asJSON = options.output.wantsJSON(console)
      var ids = try ids.map { try DeadLetterID($0) }
      let prefix = try options.shared.load().configuration.topics.prefix
      let operations = try await options.operations(author: commanding.author, telling: console)
      let selection = self.ids.isEmpty ? selecting.selection(prefix: prefix) : nil
      if let selection {
        let letters = try await operations.deadLetters(selection, isOpenOnly: true, limit: pace.limit)
        ids = letters.map(\.id)
        if pace.dryRun {
          let samples = Array(letters.prefix(10))
          let (out, count) = (console.out, HumanText.count(letters.count, "dead letter"))
          try out.lines(
            asJSON
              ? samples.map(\.jsonLine)
              : DeadLetterTable.rows(samples, lineWidth: out.width, usesColor: out.usesColor))
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
          console.err.note("run \(run); from another terminal: millrace dead-letters stop \(run.prefix(8)) …")
        }, report: reporter.report)
      console.err.note(summary.sentence)
      return summary.status
    }
  }

  struct Requeue: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Have dead letters tried again by the worker that failed, each once: the first command for one wins.",
      discussion: """
        The worker itself sends the record to its replay topic, so it has to run. A dead letter that dies again is a new \
        one with a new id and the history of the old one. Ends with 1 when a command failed, came second, or was not \
        answered in time.

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
      abstract: "Put dead letters aside for good, each once: the first command for one wins.",
      discussion: """
        Nothing is deleted: the letter stays in its topic, and the log of operations says who put it aside and why.

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
