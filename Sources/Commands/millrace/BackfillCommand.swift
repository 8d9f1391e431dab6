// `millrace backfill …`: gaps filled from Apple's notification history.

import AppStore
import AppStoreServerAPI
import ArgumentParser
import Clocks
import Kafka
import Millrace
import Operations

struct BackfillCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backfill",
    abstract: "Fill gaps from Apple's notification history.",
    discussion: """
      Every notification is verified and written as the ingress would have done; what is there already is removed by the \
      workers' ledgers. Version 2 only: Apple keeps no history of version 1, whose gaps are told.

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

  /// What every subcommand has.
  struct Options: ParsableArguments {
    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func connect(_ configuration: MillraceConfiguration, telling console: Console) async throws -> BackfillLog {
      let kafka = try configuration.kafka.outsideClient()
      console.err.note(kafka.connecting)
      return BackfillLog(
        on: try await KafkaLog.connect(kafka, timeout: .seconds(15)), prefix: configuration.topics.prefix)
    }
  }

  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Fetch a time, go on with a run, or follow for ever. What is meant when no subcommand is named.",
      discussion: """
        Apple keeps 180 days in Production and 30 in Sandbox. Of all apps that have credentials (apps[].api), unless \
        --app or --environment chooses.

        A run that is ended goes on where it was: --run and its id. Ends with 1 where something is in the quarantine, or \
        when the run was stopped.

        With --follow it is a process with metrics and probes: what Apple could not deliver is fetched every few \
        minutes, whether Apple tries again or has given up.

        Examples:
          millrace backfill --from 36h --app com.example.app --environment Production
          millrace backfill --from 10d --type REFUND
          millrace backfill --from 180d --transaction 2000000123456789 --environment Production
          millrace backfill --follow --config millrace.yaml
        """)

    @Option(
      help: ArgumentHelp("Since then: a time ago such as 36h or 3d, or a day or moment in UTC.", valueName: "when"))
    var from: String?

    @Option(help: ArgumentHelp("Until then; without it until now.", valueName: "when"))
    var to: String?

    @Option(help: ArgumentHelp("Only this type, such as REFUND.", valueName: "type"))
    var type: String?

    @Option(help: ArgumentHelp("Only this subtype, such as UPGRADE.", valueName: "subtype"))
    var subtype: String?

    @Option(help: ArgumentHelp("Only about the customer of this transaction.", valueName: "id"))
    var transaction: String?

    @Flag(help: "Only what Apple could not deliver, or not yet.")
    var onlyFailures = false

    @Option(help: ArgumentHelp("The app, when not all are meant.", valueName: "bundle id"))
    var app: String?

    @Option(help: ArgumentHelp("Production or Sandbox, when not both are meant.", valueName: "name"))
    var environment: String?

    @Option(help: ArgumentHelp("Go on with this run.", valueName: "id"))
    var run: String?

    @Flag(help: "Run for ever, and fetch what Apple could not deliver.")
    var follow = false

    @Option(help: ArgumentHelp("With --follow: how often it asks.", valueName: "duration"))
    var every = "5m"

    @Option(
      help: ArgumentHelp(
        "With --follow: how far it looks back at the first start and every six hours; not beyond ledger.horizon.",
        valueName: "duration"))
    var lookBack = "8d"

    @Option(help: ArgumentHelp("Slices that are fetched at one time.", valueName: "count"))
    var parallel = 32

    @Option(help: ArgumentHelp("How long a slice is; without it what suits the time.", valueName: "duration"))
    var slice: String?

    @Flag(
      inversion: .prefixedNo,
      help: "Look in the topics for gaps of version 1 afterwards, for apps with a shared secret.")
    var versionOne = true

    @Option(help: ArgumentHelp("Who runs it; the user by default.", valueName: "name"))
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
          throw ValidationError("\(name) is a time of at least 1s, such as 5m or 8d.")
        }
      }
      if run != nil, !flags.isEmpty {
        throw ValidationError("--run goes on with what the run fetches: leave out the rest.")
      }
      if follow, run != nil || from != nil || to != nil || type != nil || subtype != nil || transaction != nil {
        throw ValidationError("--follow fetches what Apple could not deliver: only --app and --environment choose.")
      }
      if !(1...500).contains(parallel) { throw ValidationError("--parallel must be 1 to 500.") }
      if let slice, DurationText.parse(slice).map({ $0 >= .seconds(1) }) != true {
        throw ValidationError("--slice is a time of at least 1s, such as 10m or 6h.")
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
        let by = command.by ?? CommandingOptions.user
        // What was typed is judged before anybody is asked.
        let selection = command.run == nil ? try command.flags.selection(in: configuration, now: clock.wallTime) : nil
        let log = try await command.options.connect(configuration, telling: console)
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
            throw OperationError(.usage, "it is missing", at: "--from", remedy: "say since when")
          }
          console.err.note("run \(run.id): \(run.selection.sentence)")
          return try await operation.carryOut(run)
        }
        if command.versionOne { try await command.tellOfVersionOne(ended.selection, configuration, log, console) }
        return ended.status
      }
    }

    /// What cannot be filled is told where the rest was.
    private func tellOfVersionOne(
      _ selection: BackfillSelection, _ configuration: MillraceConfiguration, _ log: BackfillLog, _ console: Console
    ) async throws {
      let reports = try await VersionOneSurvey.run(
        selection, configuration, try TopicCatalog.load(configuration), on: log)
      for sentence in reports.compactMap(\.sentence) { console.err.note(sentence) }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show all runs, the newest at the end.",
      discussion: """
        Examples:
          millrace backfill list
          millrace backfill list --json | jq 'select(.state == "failed")'
        """)

    @OptionGroup var options: Options

    func run() async throws {
      let options = options
      try await conclude { console in
        let log = try await options.connect(try options.shared.load().configuration, telling: console)
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

  static func meaning(of word: RunVerb) -> String {
    switch word {
    case .pause: "Hold a run of another terminal."
    case .resume: "Let a run go on that was held. One whose process is gone goes on with --run."
    case .stop: "End a run of another terminal for good, also where its process is gone."
    }
  }

  func steer(_ name: String, _ word: RunVerb, by author: String, on console: Console) async throws {
    let configuration = try shared.load().configuration
    let log = try await connect(configuration, telling: console)
    let run = try log.run(name, in: try await log.table())
    let isEnded = try await log.wish(
      word, for: run, by: author, at: MillraceClock(configuration.clock).wallTime,
      pulse: MillraceClock.system.wallTime)
    console.err.note(
      isEnded
        ? "no process works on run \(run.id); it is ended"
        : "told run \(run.id); it hears it within seconds, if its process lives")
  }
}
