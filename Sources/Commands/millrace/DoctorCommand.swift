// `millrace doctor`

public import ArgumentParser
import Clocks
import Millrace
import Operations

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Look at the whole way: configuration, files, topics, durability, a record, Apple, a test notification.",
    discussion: """
      Each finding says what to do. A table in a terminal, JSON lines when piped. Apple is asked with the key of each app \
      in each of its environments, and posts a TEST, which has to arrive in Kafka.

      Ends with 0 where nothing is broken (a warning is nothing broken), 1 where something is, 78 where the configuration \
      has to be corrected first.

      Examples:
        millrace doctor
        millrace doctor --skip apple
        millrace doctor --json | jq 'select(.do)'
      """)

  @Option(
    help: ArgumentHelp("Leave out: apple, test-notification or probe; may be given more than once.", valueName: "part"))
  var skip: [Doctor.Part] = []

  @Option(help: ArgumentHelp("The app, when not all are meant.", valueName: "bundle id"))
  var app: String?

  @Option(help: ArgumentHelp("Production or Sandbox, when not both are meant.", valueName: "name"))
  var environment: String?

  @Option(help: ArgumentHelp("How long Apple may take to post.", valueName: "duration"))
  var wait = "60s"

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    if DurationText.parse(wait).map({ $0 >= .seconds(1) }) != true {
      throw ValidationError("--wait is a time of at least 1s, such as 60s or 5m.")
    }
  }

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let printer = DoctorPrinter(console.out, asJSON: command.output.wantsJSON(console))
      let summary = try await command.summary(printer)
      console.err.note(summary.sentence)
      return summary.status
    }
  }

  private func summary(_ printer: DoctorPrinter) async throws -> DoctorSummary {
    let configuration: MillraceConfiguration
    do {
      configuration = try shared.load().configuration
    } catch {
      let findings = Doctor.findings(of: error)
      for finding in findings { try printer.print(finding) }
      return DoctorSummary(findings)
    }
    var options = Doctor.Options()
    options.skipped = Set(skip)
    (options.flags.app, options.flags.environment) = (app, environment)
    options.wait = DurationText.parse(wait) ?? options.wait
    return try await Doctor(configuration, options, clock: MillraceClock(configuration.clock), report: printer.print)
      .run()
  }
}

extension Doctor.Part: ExpressibleByArgument {}
