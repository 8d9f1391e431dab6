// `millrace replay …`

import ArgumentParser
import MillraceCore
import MillraceRecords
import MillraceTime
import MillraceWorker
import Operations

struct ReplayCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Replay records to one worker, or copy them to a topic.",
    discussion: """
      The worker sends the records to itself, after live traffic, so it must be running; its group's offsets do not \
      change. Handled records are skipped. With --reapply, handlers run again: if an outcome differs, all its events are \
      published, under new IDs that name the old ones, and no effect is repeated. Copies to a topic are written by this command.

      Copies are marked: ce_origin is replay, and ce_replayid names the run. Every run is in the audit trail.

      Examples:
        millrace replay --worker winback --family subscriptions --since 2h --type EXPIRED --dry-run
        millrace replay --worker winback --family subscriptions --since 2h --reapply "the price was wrong until 14:00"
        millrace replay --to-topic copies --topic appstore.notifications.refunds --app com.example.app --rate 100
        millrace replay list
        millrace replay status 1f0c
        millrace replay pause 1f0c
      """,
    subcommands: [
      Start.self, List.self, Status.self, PauseCommand<Options>.self, Resume.self, StopCommand<Options>.self,
    ], defaultSubcommand: Start.self)

  /// The options of every subcommand.
  struct Options: ParsableArguments {
    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func connect(author: String = "", console: Console) async throws -> (ReplayOperation, MillraceConfiguration) {
      let configuration = try shared.load().configuration
      let replay = ReplayOperation(
        on: try await configuration.connect(console), prefix: configuration.topics.prefix, author: author,
        recordClock: MillraceClock(configuration.clock), note: console.noteOnce)
      return (replay, configuration)
    }
  }

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Start a run and follow it.",
      discussion: """
        Ends when all records are sent, which is before all are handled: millrace_worker_lag_records of the replay \
        topic shows the rest. Exits with 1 if the run failed or the worker was silent for too long; the run continues \
        with the worker. Ctrl-C does not affect a run to a worker. It interrupts a run to a topic, which continues with \
        `millrace replay resume RUN --here`.

        Examples:
          millrace replay --worker winback --topic appstore.notifications.subscriptions --partition 3 --from 100 --to 200
          millrace replay --worker winback --family subscriptions --transaction 2000000123456789 --dry-run
        """)

    @Option(help: ArgumentHelp("The worker to send the records to.", valueName: "name"))
    var worker: String?

    @Option(help: ArgumentHelp("The topic to copy the records to, by its name in Kafka.", valueName: "name"))
    var toTopic: String?

    @Option(help: ArgumentHelp("Run handlers again on handled records, for this reason.", valueName: "why"))
    var reapply: String?

    @Option(
      help: ArgumentHelp(
        "With --reapply --dry-run: the worker's program; by default the one that ships with Millrace.",
        valueName: "path"))
    var program: String?

    @Option(
      help: ArgumentHelp("With --reapply --dry-run: the number of differences to show.", valueName: "count"))
    var show: Int?

    @OptionGroup var selecting: SelectionOptions
    @OptionGroup var pace: PaceOptions
    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var options: Options

    func validate() throws {
      if let reapply, reapply.allSatisfy(\.isWhitespace) {
        throw ValidationError("--reapply needs a reason; it is kept in the audit trail.")
      }
      guard (worker == nil) != (toTopic == nil) else {
        throw ValidationError("Pass either --worker or --to-topic.")
      }
      guard show == nil && program == nil || (reapply != nil && pace.dryRun && worker != nil) else {
        throw ValidationError("--show and --program need --worker, --reapply and --dry-run.")
      }
      guard show ?? 0 >= 0 else { throw ValidationError("--show must be 0 or more.") }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let (replay, configuration) = try await command.options.connect(
          author: command.pace.dryRun ? "" : try command.commanding.author, console: console)
        var selection = try command.selecting.selection(in: configuration, now: replay.wallTime)
        if let worker = command.worker {
          try configuration.check(worker: worker)
          try DeployedWorker.all(in: configuration).first { $0.name == worker }?.complete(&selection)
        }
        let target: ReplayRequest.Target =
          command.worker.map { .worker($0) } ?? .topic(command.toTopic ?? "")
        let request = ReplayRequest(
          selection, to: target,
          reapply: command.reapply, rate: command.pace.rate, limit: command.pace.limit)
        let plan = try await replay.plan(request)
        let asJSON = command.options.output.wantsJSON(console)
        if command.pace.dryRun, command.reapply != nil, let worker = command.worker {
          let commands = try await replay.commands(for: plan)
          guard !commands.isEmpty else {
            console.err.note("No records match.")
            return .success
          }
          let unseen =
            configuration.workers[worker]?.isHTTPWorker == true
            ? "What its endpoint does in spite of `dryRun`"
            : "What a Swift handler does outside of `once` and the clients of its setup"
          console.err.note("Running the handlers of \(worker) without effects. \(unseen) cannot be stopped.")
          let report = try await InstalledProgram.dryRun(
            commands, of: worker, by: command.program, showing: command.show ?? 0, configuration)
          try console.out.lines(asJSON ? [report.jsonLine] : report.lines(usesColor: console.out.usesColor))
          return .success
        }
        if command.pace.dryRun {
          let survey = try await replay.survey(plan)
          let out = console.out
          try out.lines(asJSON ? [survey.jsonLine] : survey.lines(lineWidth: out.width, usesColor: out.usesColor))
          return .success
        }
        guard let run = try await replay.begin(plan) else {
          console.err.note("No records match; nothing was sent.")
          return .success
        }
        console.err.note("run \(run.id); to pause it: millrace replay pause \(run.id.prefix(8))")
        return try await follow(
          run, of: replay, carryingOut: command.toTopic != nil, patience: command.commanding.patience, asJSON: asJSON,
          on: console)
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show runs, newest last.",
      discussion: """
        Examples:
          millrace replay list
          millrace replay list --open --json | jq .run
        """)

    @Flag(help: "Only runs that are not over.")
    var open = false

    @OptionGroup var options: Options

    func run() async throws {
      let command = self
      try await conclude { console in
        let (replay, _) = try await command.options.connect(console: console)
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

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show a run and what became of its records.",
      discussion: """
        Counts what the worker has done so far. Also shows other runs of the audit trail: requeues, backfills, imports and \
        refund checks. For the last three it counts for each worker that reads the records, from the topics, the \
        worker's offsets and its ledger.

        Examples:
          millrace replay status 1f0c
          millrace replay status 202603041200-1x7k
          millrace replay status 1f0c --json | jq .outcome.waiting
        """)

    @Argument(help: ArgumentHelp("The run's ID or a unique prefix of it.", valueName: "run"))
    var run: String

    @OptionGroup var options: Options

    func run() async throws {
      let command = self
      try await conclude { console in
        let (replay, configuration) = try await command.options.connect(console: console)
        let readers = RunReaders(configuration, try TopicCatalog.load(configuration))
        let status = try await replay.status(of: command.run, among: readers)
        let out = console.out
        try out.lines(
          command.options.output.wantsJSON(console)
            ? [status.jsonLine] : status.lines(usesColor: out.usesColor))
        return .success
      }
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: Options.meaning(of: .resume),
      discussion: """
        If the command of a run to a topic has died, --here continues the run in this process, without sending any \
        record twice. If that command is still running, this one takes over.

        Examples:
          millrace replay resume 1f0c
          millrace replay resume 1f0c --here
        """)

    @Flag(help: "Continue a run to a topic in this process.")
    var here = false

    @Option(help: ArgumentHelp("With --here, the maximum time without progress.", valueName: "duration"))
    var wait = TimeArgument(age: .seconds(30))

    @OptionGroup var steering: SteeringOptions<Options>

    func validate() throws { try wait.check() }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let (name, author) = (command.steering.run, try command.steering.author)
        guard command.here else {
          try await command.steering.runs.steer(name, .resume, by: author, on: console)
          return .success
        }
        let (replay, _) = try await command.steering.runs.connect(author: author, console: console)
        guard let run = try await replay.control(name, .resume) else { return .failure }
        guard case .topic = run.target else {
          throw OperationError(
            .usage, "the worker \(run.target) sends this run itself", at: "--here", remedy: "remove the flag")
        }
        return try await follow(
          run, of: replay, carryingOut: true, patience: command.wait.wait,
          asJSON: command.steering.runs.output.wantsJSON(console), on: console)
      }
    }
  }
}

extension ReplayCommand.Options: SteeredRuns {
  static var command: String { "replay" }
  static var example: String { "1f0c" }

  static func meaning(of verb: RunVerb) -> String {
    switch verb {
    case .pause: "Pause a run."
    case .resume: "Resume a run."
    case .stop: "Stop a run for good."
    }
  }

  func steer(_ name: String, _ verb: RunVerb, by author: String, on console: Console) async throws {
    let (replay, _) = try await connect(author: author, console: console)
    guard let run = try await replay.control(name, verb) else {
      return console.err.note("ended the run in the audit trail: its command had died before anything was sent")
    }
    switch verb {
    case .pause:
      console.err.note("paused run \(run.id); resume it with millrace replay resume \(run.id.prefix(8))")
    case .resume: console.err.note("resumed run \(run.id)")
    case .stop:
      console.err.note("stopping run \(run.id)")
      try await replay.concludeStop(of: run)
    }
  }
}

/// Shows a run until it is over, and carries it out if no other process does.
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
