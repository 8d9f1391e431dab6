// `millrace backfill …`: fills gaps from Apple's notification history.

import AppStore
import AppStoreServerAPI
import ArgumentParser
import MillraceTime
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceWorker
import Operations

struct BackfillCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backfill",
    abstract: "Fill gaps from Apple's notification history.",
    discussion: """
      Every notification is verified and written as the ingress would have done. The workers' ledgers remove \
      duplicates. Covers version 2 only: Apple keeps no history of version 1, so gaps in version 1 are only reported.

      Examples:
        millrace backfill --from 3d
        millrace backfill --from 2026-03-01 --to 2026-03-04 --only-failures
        millrace backfill --run 202603041200-1x7k
        millrace backfill --follow
        millrace backfill list
      """,
    subcommands: [
      Run.self, List.self, PauseCommand<Options>.self, ResumeCommand<Options>.self, StopCommand<Options>.self,
    ], defaultSubcommand: Run.self)

  /// The options of every subcommand.
  struct Options: ParsableArguments {
    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func connect(_ configuration: MillraceConfiguration, console: Console) async throws -> BackfillLog {
      BackfillLog(on: try await configuration.connect(console), prefix: configuration.topics.prefix)
    }
  }

  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Fetch a time range, continue a run, or follow. The default subcommand.",
      discussion: """
        Apple keeps 180 days in Production and 30 in Sandbox. Covers all apps with API credentials (apps[].api), \
        unless --app or --environment selects some of them.

        An interrupted run continues from its last page with --run and its ID. Exits with 1 if something is in the \
        quarantine, or if the run was stopped.

        With --follow, runs as a process with metrics and probes. Every few minutes it fetches the notifications that \
        Apple failed to deliver, whether Apple retries them or has given up.

        Examples:
          millrace backfill --from 36h --app com.example.app --environment Production
          millrace backfill --from 10d --type REFUND
          millrace backfill --from 180d --transaction 2000000123456789 --environment Production
          millrace backfill --follow --config millrace.yaml
        """)

    @Option(help: ArgumentHelp("The start: \(StartArgument.forms).", valueName: "time"))
    var from: StartArgument?

    @Option(help: ArgumentHelp("The end: \(TimeArgument.forms); by default now.", valueName: "time"))
    var to: TimeArgument?

    @Option(help: ArgumentHelp("Only this type, such as REFUND.", valueName: "type"))
    var type: String?

    @Option(help: ArgumentHelp("Only this subtype, such as UPGRADE.", valueName: "subtype"))
    var subtype: String?

    @Option(help: ArgumentHelp("Only notifications about the customer of this transaction.", valueName: "id"))
    var transaction: String?

    @Flag(help: "Only notifications that Apple failed to deliver, or has not delivered yet.")
    var onlyFailures = false

    @Option(help: ArgumentHelp("The app; by default all.", valueName: "bundle id"))
    var app: String?

    @Option(help: ArgumentHelp("Production or Sandbox; by default both.", valueName: "name"))
    var environment: String?

    @Option(help: ArgumentHelp("Continue this run.", valueName: "id"))
    var run: String?

    @Flag(help: "Run until stopped, and fetch what Apple failed to deliver.")
    var follow = false

    @Option(help: ArgumentHelp("With --follow: the pause between two passes.", valueName: "duration"))
    var every = "5m"

    @Option(
      help: ArgumentHelp(
        "With --follow: how far to look back at the first start and every six hours; at most ledger.horizon.",
        valueName: "duration"))
    var lookBack = "8d"

    @Option(help: ArgumentHelp("The number of slices to fetch in parallel.", valueName: "count"))
    var parallel = 32

    @Option(help: ArgumentHelp("The length of a slice; by default chosen from the time range.", valueName: "duration"))
    var slice: String?

    @Flag(
      inversion: .prefixedNo,
      help: "Afterwards, look for gaps in version 1 in the topics, for apps with a shared secret.")
    var versionOne = true

    @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var options: Options

    private var flags: BackfillFlags {
      var flags = BackfillFlags()
      (flags.from, flags.to, flags.type, flags.subtype) = (from, to, type, subtype)
      (flags.transaction, flags.onlyFailures, flags.app, flags.environment) = (
        transaction, onlyFailures, app, environment
      )
      return flags
    }

    private var followSettings: FollowSettings {
      var settings = FollowSettings()
      settings.interval = DurationText.parse(every) ?? settings.interval
      settings.lookBack = DurationText.parse(lookBack) ?? settings.lookBack
      return settings
    }

    func validate() throws {
      for (name, text) in [("--every", every), ("--look-back", lookBack)] {
        if DurationText.parse(text).map({ $0 >= .seconds(1) }) != true {
          throw ValidationError("\(name) must be at least 1s, such as 5m or 8d.")
        }
      }
      if run != nil, !flags.isEmpty {
        throw ValidationError("--run uses the stored selection of the run; remove the other flags.")
      }
      if follow, run != nil || from != nil || to != nil || type != nil || subtype != nil || transaction != nil {
        throw ValidationError("--follow accepts only --app and --environment as filters.")
      }
      if !(1...500).contains(parallel) { throw ValidationError("--parallel must be 1 to 500.") }
      if let slice, DurationText.parse(slice).map({ $0 >= .seconds(1) }) != true {
        throw ValidationError("--slice must be at least 1s, such as 10m or 6h.")
      }
    }

    func run() async throws {
      let command = self
      if follow {
        let status = await FollowProcess.run(flags, followSettings) { try command.options.shared.load().configuration }
        throw ExitCode(status.rawValue)
      }
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.options.shared.load().configuration
        let clock = MillraceClock(configuration.clock)
        let by = try CommandingOptions.author(command.by)
        // Check the flags before connecting.
        let selection = command.run == nil ? try command.flags.selection(in: configuration, now: clock.wallTime) : nil
        let log = try await command.options.connect(configuration, console: console)
        let display = BackfillDisplay(console.out, asJSON: command.options.output.wantsJSON(console))
        let apps = try command.flags.apps(in: configuration)
        let ended = try await BackfillOperation.with(
          log, apps, configuration, clock: clock, parallel: command.parallel, report: display.report
        ) { operation in
          let run: BackfillRun
          if let id = command.run {
            run = try await operation.goOn(with: id, by: by)
          } else if let selection {
            run = try await operation.start(
              selection, sliceLength: command.slice.flatMap { DurationText.parse($0) }, by: by)
          } else {
            throw OperationError(.usage, "the flag is missing", at: "--from", remedy: "say since when, such as 3d")
          }
          console.err.note("run \(run.id): \(run.selection.sentence)")
          return try await operation.carryOut(run)
        }
        try await console.noteOutcomes(
          of: ended.id, .backfill, since: ended.startedAt, in: log.log, configuration)
        if command.versionOne { try await command.noteVersionOne(ended.selection, configuration, log, console) }
        return ended.status
      }
    }

    /// Reports gaps in version 1, which a backfill cannot fill.
    private func noteVersionOne(
      _ selection: BackfillSelection, _ configuration: MillraceConfiguration, _ log: BackfillLog, _ console: Console
    ) async throws {
      let reports = try await VersionOneSurvey.run(
        selection, configuration, try TopicCatalog.load(configuration), on: log)
      for sentence in reports.compactMap(\.sentence) { console.err.note(sentence) }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show all runs, newest last.",
      discussion: """
        Examples:
          millrace backfill list
          millrace backfill list --json | jq 'select(.state == "failed")'
        """)

    @OptionGroup var options: Options

    func run() async throws {
      let options = options
      try await conclude { console in
        let log = try await options.connect(try options.shared.load().configuration, console: console)
        let runs = try await log.table().runs
        let out = console.out
        if options.output.wantsJSON(console) {
          if runs.isEmpty { console.err.note("No runs.") }
          try out.lines(runs.map { String(decoding: $0.json.serialized(), as: UTF8.self) })
        } else {
          try out.lines(
            BackfillRun.lines(
              runs, now: MillraceClock.system.wallTime, lineWidth: out.width, usesColor: out.usesColor))
        }
        return .success
      }
    }
  }
}

extension BackfillCommand.Options: SteeredRuns {
  static var command: String { "backfill" }
  static var example: String { "202603041200-1x7k" }

  static func meaning(of verb: RunVerb) -> String {
    switch verb {
    case .pause: "Pause a run of another process."
    case .resume: "Resume a paused run. If its process is gone, use --run instead."
    case .stop: "Stop a run for good, even if its process is gone."
    }
  }

  func steer(_ name: String, _ verb: RunVerb, by author: String, on console: Console) async throws {
    let configuration = try shared.load().configuration
    let log = try await connect(configuration, console: console)
    let run = try log.run(name, in: try await log.table())
    let isEnded = try await log.control(
      verb, of: run, by: author, at: MillraceClock(configuration.clock).wallTime,
      pulse: MillraceClock.system.wallTime)
    console.err.note(
      isEnded
        ? "stopped run \(run.id); no process was working on it"
        : "sent the request to run \(run.id); its process, if alive, reacts within seconds")
  }
}
