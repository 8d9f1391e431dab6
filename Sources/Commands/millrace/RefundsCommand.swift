// `millrace refunds check`

import AppStore
import AppStoreServerAPI
import ArgumentParser
import MillraceTime
import MillraceCore
import MillraceRecords
import Operations
import Refunds

struct RefundsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refunds",
    abstract: "Find refunds without a notification.",
    discussion: """
      Examples:
        millrace refunds check --since 7d
        millrace refunds check customers.txt --app com.example.app
      """,
    subcommands: [Check.self])

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ask Apple for customers' refunds, and publish those without a notification.",
      discussion: """
        Calls Get Refund History for the customers of the transactions in FILE (one per line, - for standard input), \
        or for every customer with a notification since a given time. Refunds that are missing in \
        appstore.entitlements go to appstore.transactions.refunds, which the refunds worker reads.

        The audit trail has a line for it (millrace audit). The progress per customer is stored: an interrupted check continues where it ended, and the next one reads \
        only new refunds. Uses a part of the app's call budget.

        Examples:
          millrace refunds check --since 7d
          millrace refunds check --since 2026-01-01T00:00:00Z --app com.example.app --environment Production
          millrace refunds check customers.txt
        """)

    @Argument(help: ArgumentHelp("Transactions, one per line; - for standard input.", valueName: "file"))
    var file: String?

    @Option(
      help: ArgumentHelp(
        "All customers with a notification since then: \(TimeArgument.forms).", valueName: "time"))
    var since: TimeArgument?

    @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var options: APICommand.Options

    func validate() throws {
      guard (file == nil) != (since == nil) else { throw ValidationError("Pass either FILE or --since.") }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let author = try CommandingOptions.author(command.by)
        let configuration = try command.options.shared.load().configuration
        let app = try APIApp(app: command.options.app, environment: command.options.environment, in: configuration)
        let clock = MillraceClock(configuration.clock)
        let log = try await configuration.connect(console)
        let prefix = configuration.topics.prefix
        let customers = try await command.customers(of: app, log, prefix, clock)
        let asJSON = command.options.output.wantsJSON(console)
        let (run, start) = (CommandID.new(), clock.wallTime)
        var selection: JSONObject = ["bundleId": .string(app.settings.bundleId)]
        selection["environment"] = app.environment.map { .string($0.rawValue) }
        selection["since"] = command.since.map { .string($0.time(at: start).rfc3339) }
        let summary = try await AuditLog(on: log, prefix: prefix).record(
          .refundCheck, run: run, by: author, clock: clock, selection: selection
        ) {
          try await APIAccess.with(app, configuration, clock: clock) { client in
            let client = client.askingSandboxBeforeRelease { console.err.note($0) }
            return try await RefundCheck(client, on: log, prefix: prefix, clock: clock, run: run).run(customers) {
              report in
              try console.out.line(asJSON ? report.jsonLine : report.line)
            }
          }
        } end: {
          (
            .done,
            [
              .init("checked", Int64($0.asked)), .init("published", Int64($0.published)),
              .init("failed", Int64($0.failed)),
            ]
          )
        }
        console.err.note(summary.sentence)
        try await console.noteOutcomes(of: run, .refundCheck, since: start, in: log, configuration)
        return summary.failed == 0 ? .success : .failure
      }
    }

    private func customers(
      of app: APIApp, _ log: KafkaLog, _ prefix: String, _ clock: MillraceClock
    ) async throws -> [RefundCustomer] {
      let bundleId = app.settings.bundleId
      if let time = since?.time(at: clock.wallTime) {
        return try await RecentCustomers.load(
          since: time, bundleId: bundleId, environment: app.environment, from: log, prefix: prefix,
          clock: clock)
      }
      let limit = 64 << 20
      let bytes = file == "-" ? try StandardInput.readAll(limit: limit) : try Files.read(file ?? "", limit: limit)
      return RefundCustomer.named(
        in: String(decoding: bytes, as: UTF8.self), bundleId: bundleId, environment: app.environment)
    }
  }
}
