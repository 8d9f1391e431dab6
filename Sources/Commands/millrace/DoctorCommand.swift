// `millrace doctor`

internal import ArgumentParser
import Console
import Consumption
import Decoder
import MillraceTime
import MillraceCore
import Operations

struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check the deployment, from the configuration to workers, endpoints, Apple and a test notification.",
    discussion: """
      Each finding says what to do. On a terminal, prints the problems, grouped by cause and the first cause first, in at \
      most 20 lines; --verbose prints every finding. Prints JSON lines to a pipe. Asks every HTTP server for its URL, \
      without a signature. Calls Apple with the key of \
      each app in each of its environments, and has Apple post a TEST, which must arrive in Kafka.

      Exits with 0 if nothing is broken (warnings do not count), with 1 if something is, and with 78 if the \
      configuration has to be corrected first.

      Examples:
        millrace doctor
        millrace doctor --skip apple --verbose
        millrace doctor --json | jq 'select(.do)'
      """)

  @Option(
    help: ArgumentHelp("Skip apple, test-notification, probe or endpoints; may be repeated.", valueName: "part"))
  var skip: [Doctor.Part] = []

  @Option(help: ArgumentHelp("The app; by default all.", valueName: "bundle id"))
  var app: String?

  @Option(help: ArgumentHelp("Production or Sandbox; by default both.", valueName: "name"))
  var environment: String?

  @Option(help: ArgumentHelp("How long to wait for Apple to post, or until when.", valueName: "duration"))
  var wait = TimeArgument(age: .seconds(60))

  @Flag(help: "Print every finding, as soon as it is known.")
  var verbose = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func validate() throws { try wait.check(atLeast: .seconds(1)) }

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let asJSON = command.output.wantsJSON(console)
      let printer = DoctorPrinter(console.out, asJSON: asJSON)
      let report: @Sendable (DoctorFinding) throws -> Void = { finding in
        if asJSON || command.verbose { try printer.print(finding) }
      }
      let summary = try await command.summary(report) { console.err.note($0) }
      if !asJSON, !command.verbose {
        let (out, report) = (console.out, DoctorReport(summary.findings))
        try out.lines(report.lines(lineWidth: out.width, usesColor: out.usesColor))
      }
      console.err.note(summary.sentence)
      return summary.status
    }
  }

  private func summary(
    _ report: @escaping @Sendable (DoctorFinding) throws -> Void, note: @escaping @Sendable (String) -> Void
  ) async throws -> DoctorSummary {
    let configuration: MillraceConfiguration
    do {
      configuration = try shared.load().configuration
    } catch {
      let findings = Doctor.findings(of: error)
      for finding in findings { try report(finding) }
      return DoctorSummary(findings)
    }
    var options = Doctor.Options()
    options.skipped = Set(skip)
    (options.flags.app, options.flags.environment) = (app, environment)
    options.wait = wait.wait
    options.forms = ShippedWorkers.forms
    options.endpoints = try Self.endpoints(configuration)
    options.state = { try await DeploymentStatus.findings(configuration) }
    options.postgres = { PostgresCheck.finding(configuration) }
    return try await Doctor(
      configuration, options, clock: MillraceClock(configuration.clock), note: note, report: report
    )
    .run()
  }

  /// The servers that only the settings of single workers name.
  private static func endpoints(_ configuration: MillraceConfiguration) throws -> [EndpointAddress] {
    var endpoints: [EndpointAddress] = []
    if configuration.workerNames.contains("consumption") {
      let settings: ConsumptionSettings = try configuration.settings(of: "consumption")
      if let url = settings.http.url, settings.providers.contains(.http) {
        endpoints.append(EndpointAddress("workers.consumption.settings.http", url: url))
      }
    }
    if configuration.workerNames.contains("decoder") {
      let settings: DecoderSettings = try configuration.settings(of: "decoder")
      if let url = settings.registryURL {
        endpoints.append(EndpointAddress("workers.decoder.settings.schemaRegistry", url: url))
      }
    }
    return endpoints
  }
}

extension Doctor.Part: ExpressibleByArgument {}
