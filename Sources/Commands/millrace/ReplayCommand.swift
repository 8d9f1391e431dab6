// `millrace replay …`

import ArgumentParser
import Clocks
import Millrace
import Operations

struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Send records to one worker again, or copy them to a topic.",
    discussion: """
      A worker sends records to itself, behind live traffic, so it has to run; its group does not move. What it has \
      handled is skipped. With --reapply handlers run again: only events that differ are published, under new ids that \
      name the old ones, and no effect is caused twice. Copies to a topic are written by this command.

      Copies say so: ce_origin is replay, ce_replayid names the run. Every run is in the audit trail.

      Examples:
        millrace replay --worker winback --family subscriptions --since 2h --type EXPIRED --dry-run
        millrace replay --worker winback --family subscriptions --since 2h --reapply "the price was wrong until 14:00"
        millrace replay --to-topic copies --topic appstore.notifications.refunds --app com.example.app --rate 100
        millrace replay list
        millrace replay pause 1f0c
      """,
    subcommands: [
      Start.self, List.self, PauseCommand<Options>.self, Resume.self, StopCommand<Options>.self,
    ], defaultSubcommand: Start.self)

  /// What every subcommand has.
  struct Options: ParsableArguments {
    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func connect(author: String = "", telling console: Console) async throws -> (ReplayOperation, prefix: String) {
      let configuration = try shared.load().configuration
      let kafka = try configuration.kafka.outsideClient()
      console.err.note(kafka.connecting)
      let replay = try await ReplayOperation.connect(
        configuration, kafka, author: author, note: console.noteOnce)
      return (replay, configuration.topics.prefix)
    }
  }

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Begin a run and follow it.",
      discussion: """
        Ends when all records are sent, which is before all are handled: millrace_worker_lag_records of the replay topic \
        says how far that is. Ends with 1 when it failed or the worker was silent for too long; the run goes on when the \
        worker does. Ctrl-C leaves a run to a worker going; one to a topic stands until `millrace replay resume RUN --here`.

        Examples:
          millrace replay --worker winback --topic appstore.notifications.subscriptions --partition 3 --from 100 --to 200
          millrace replay --worker winback --family subscriptions --transaction 2000000123456789 --dry-run
        """)

    @Option(help: ArgumentHelp("The worker that the records are sent to.", valueName: "name"))
    var worker: String?

    @Option(help: ArgumentHelp("The topic that the records are copied to, by its name in Kafka.", valueName: "name"))
    var toTopic: String?

    @Option(help: ArgumentHelp("Run handlers again for what is done, and why.", valueName: "why"))
    var reapply: String?

    @OptionGroup var selecting: SelectionOptions
    @OptionGroup var pace: PaceOptions
    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var options: Options

    func validate() throws {
      if let reapply, reapply.allSatisfy(\.isWhitespace) {
        throw ValidationError("--reapply says why, for whoever asks later.")
      }
      guard (worker == nil) != (toTopic == nil) else {
        throw ValidationError("Name a worker with --worker, or a topic with --to-topic; one of the two.")
      }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let (replay, prefix) = try await command.options.connect(
          author: command.commanding.author, telling: console)
        let target: ReplayRequest.Target =
          command.worker.map { .worker($0) } ?? .topic(command.toTopic ?? "")
        let request = ReplayRequest(
          command.selecting.selection(prefix: prefix, now: MillraceClock.system.wallTime), to: target,
          reapply: command.reapply, rate: command.pace.rate, limit: command.pace.limit)
        let plan = try await replay.plan(request)
        let asJSON = command.options.output.wantsJSON(console)
        if command.pace.dryRun {
          let survey = try await replay.survey(plan)
          let out = console.out
          try out.lines(asJSON ? [survey.jsonLine] : survey.lines(lineWidth: out.width, usesColor: out.usesColor))
          return .success
        }
        guard let run = try await replay.begin(plan) else {
          console.err.note("Nothing is chosen; nothing was sent.")
          return .success
        }
        console.err.note("run \(run.id); from another terminal: millrace replay pause \(run.id.prefix(8))")
        return try await follow(
          run, of: replay, carryingOut: command.toTopic != nil, patience: command.commanding.patience, asJSON: asJSON,
          on: console)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show runs, those that began last at the end.",
      discussion: """
        Examples:
          millrace replay list
          millrace replay list --open --json | jq .run
        """)

    @Flag(help: "Only those that are not over.")
    var open = false

    @OptionGroup var options: Options

    func run() async throws {
      let command = self
      try await conclude { console in
        let (replay, _) = try await command.options.connect(telling: console)
        let runs = try await replay.book().runs.filter { !command.open || !$0.isOver }
        let out = console.out
        if runs.isEmpty { console.err.note("No runs.") }
        if command.options.output.wantsJSON(console) {
          try out.lines(runs.map(\.jsonLine))
        } else {
          try out.lines(
            TextTable.lines(ReplayRun.columns, rows: runs.map(\.row), lineWidth: out.width, usesColor: out.usesColor))
        }
        return .success
      }
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: Options.meaning(of: .resume),
      discussion: """
        A run to a topic whose command has died is carried out here with --here: it goes on where it was, and does no \
        record twice. Where that command still runs, this one takes over.

        Examples:
          millrace replay resume 1f0c
          millrace replay resume 1f0c --here
        """)

    @Flag(help: "Carry the rest of a run to a topic out here.")
    var here = false

    @Option(help: ArgumentHelp("With --here, how long nothing may be heard of it.", valueName: "duration"))
    var wait = "30s"

    @OptionGroup var steering: SteeringOptions<Options>

    func validate() throws {
      guard let wait = DurationText.parse(wait), wait > .zero else {
        throw ValidationError("--wait is a duration above 0, such as 30s or 5m.")
      }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let (name, author) = (command.steering.run, command.steering.author)
        guard command.here else {
          try await command.steering.runs.steer(name, .resume, by: author, on: console)
          return .success
        }
        let (replay, _) = try await command.steering.runs.connect(author: author, telling: console)
        guard let run = try await replay.control(name, .resume) else { return .failure }
        guard case .topic = run.target else {
          throw OperationError(
            .usage, "the worker \(run.target) sends this run itself", at: "--here", remedy: "leave the flag out")
        }
        return try await follow(
          run, of: replay, carryingOut: true, patience: DurationText.parse(command.wait) ?? .seconds(30),
          asJSON: command.steering.runs.output.wantsJSON(console), on: console)
      }
    }
  }
}

extension ReplayCommand.Options: SteeredRuns {
  static var command: String { "replay" }
  static var example: String { "1f0c" }

  static func meaning(of word: RunVerb) -> String {
    switch word {
    case .pause: "Let a run wait."
    case .resume: "Let a run go on."
    case .stop: "End a run where it stands, for good."
    }
  }

  func steer(_ name: String, _ word: RunVerb, by author: String, on console: Console) async throws {
    let (replay, _) = try await connect(author: author, telling: console)
    guard let run = try await replay.control(name, word) else {
      return console.err.note("the command that began it died first: nothing was sent, and the audit trail says so now")
    }
    switch word {
    case .pause:
      console.err.note("run \(run.id) waits; millrace replay resume \(run.id.prefix(8)) lets it go on")
    case .resume: console.err.note("run \(run.id) goes on")
    case .stop:
      console.err.note("run \(run.id) ends")
      try await replay.concludeStop(of: run)
    }
  }
}

/// Shows a run until it is over, and carries it out where nobody else does.
private func follow(
  _ run: ReplayRun, of replay: ReplayOperation, carryingOut: Bool, patience: Duration, asJSON: Bool,
  on console: Console
) async throws -> CommandStatus {
  let progress = RunProgress(console.out, asJSON: asJSON, clock: .system)
  let end = try await withThrowingTaskGroup(of: ReplayRun?.self) { group in
    if carryingOut {
      group.addTask {
        try await replay.carryOut(run.id)
        return nil
      }
    }
    group.addTask { try await replay.follow(run.id, patience: patience) { try progress.report($0) } ?? run }
    defer { group.cancelAll() }
    while let end = try await group.next() { if let end { return end } }
    return run
  }
  try progress.end(end)
  console.err.note(end.sentence)
  return end.status
}
