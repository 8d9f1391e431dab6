// `millrace doctor`

internal import ArgumentParser
import MillraceTime
import MillraceCore
import Operations

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check the deployment: configuration, files, topics, durability, a record, Apple, a test notification.",
    discussion: """
      Each finding says what to do. Prints a table on a terminal and JSON lines to a pipe. Calls Apple with the key of \
      each app in each of its environments, and has Apple post a TEST, which must arrive in Kafka.

      Exits with 0 if nothing is broken (warnings do not count), with 1 if something is, and with 78 if the \
      configuration has to be corrected first.

      Examples:
        millrace doctor
        millrace doctor --skip apple
        millrace doctor --json | jq 'select(.do)'
      """)

  @Option(
    help: ArgumentHelp("Skip apple, test-notification or probe; may be repeated.", valueName: "part"))
  var skip: [Doctor.Part] = []

  @Option(help: ArgumentHelp("The app; by default all.", valueName: "bundle id"))
  var app: String?

  @Option(help: ArgumentHelp("Production or Sandbox; by default both.", valueName: "name"))
  var environment: String?

  @Option(help: ArgumentHelp("How long to wait for Apple to post, or until when.", valueName: "duration"))
  var wait = TimeArgument(age: .seconds(60))

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func validate() throws { try wait.check(atLeast: .seconds(1)) }

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let printer = DoctorPrinter(console.out, asJSON: command.output.wantsJSON(console))
      let summary = try await command.summary(printer) { console.err.note($0) }
      console.err.note(summary.sentence)
      return summary.status
    }
  }

  private func summary(
    _ printer: DoctorPrinter, note: @escaping @Sendable (String) -> Void
  ) async throws -> DoctorSummary {
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
    options.wait = wait.wait
    return try await Doctor(
      configuration, options, clock: MillraceClock(configuration.clock), note: note, report: printer.print
    )
    .run()
  }
}

extension Doctor.Part: ExpressibleByArgument {}
