// `millrace refunds check`

import AppStore
import AppStoreServerAPI
import ArgumentParser
import Clocks
import Millrace
import Operations
import Refunds

struct RefundsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "refunds",
    abstract: "Find refunds that no notification told.",
    discussion: """
      Examples:
        millrace refunds check --since 7d
        millrace refunds check customers.txt --app com.example.app
      """,
    subcommands: [Check.self])

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ask Apple about customers' refunds, and publish what no notification told.",
      discussion: """
        Asks Get Refund History about the customers of the transactions in FILE (one a line, - for standard input), or \
        about every customer that notifications told of since a time. Refunds that appstore.entitlements does not hold \
        go to appstore.transactions.refunds, which the refunds worker reads.

        How far a customer was read is kept: a run that was ended goes on where it was, and the next one asks for what \
        is new. Calls take a part of the app's budget.

        Examples:
          millrace refunds check --since 7d
          millrace refunds check --since 2026-01-01T00:00:00Z --app com.example.app --environment Production
          millrace refunds check customers.txt
        """)

    @Argument(help: ArgumentHelp("Transactions, one a line; - reads standard input.", valueName: "file"))
    var file: String?

    @Option(
      help: ArgumentHelp(
        "Customers that notifications told of since then: a time ago such as 36h or 7d, or a moment in UTC.",
        valueName: "when"))
    var since: String?

    @OptionGroup var options: APICommand.Options

    func validate() throws {
      guard (file == nil) != (since == nil) else { throw ValidationError("Name a FILE or --since, and only one.") }
      if let since, RefundCustomer.moment(since, now: Timestamp(millisecondsSince1970: 0)) == nil {
        throw ValidationError("--since is a time ago such as 36h or 7d, or a moment such as 2026-01-01T00:00:00Z.")
      }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.options.shared.load().configuration
        let app = try APIApp(app: command.options.app, environment: command.options.environment, in: configuration)
        let clock = MillraceClock(configuration.clock)
        let kafka = try configuration.kafka.outsideClient()
        console.err.note(kafka.connecting)
        let log = try await KafkaLog.connect(kafka, timeout: .seconds(15))
        let prefix = configuration.topics.prefix
        let customers = try await command.customers(of: app, log, prefix, clock)
        let asJSON = command.options.output.wantsJSON(console)
        let summary = try await APIAccess.with(app, configuration, clock: clock) { client in
          try await RefundCheck(client, on: log, prefix: prefix, clock: clock).run(customers) { report in
            try console.out.line(asJSON ? report.jsonLine : report.line)
          }
        }
        console.err.note(summary.sentence)
        return summary.failed == 0 ? .success : .failure
      }
    }

    private func customers(
      of app: APIApp, _ log: KafkaLog, _ prefix: String, _ clock: MillraceClock
    ) async throws -> [RefundCustomer] {
      let bundleId = app.settings.bundleId
      if let since, let time = RefundCustomer.moment(since, now: clock.wallTime) {
        return try await RecentCustomers.load(
          since: time, bundleId: bundleId, environment: app.environment, from: log, prefix: prefix)
      }
      let limit = 64 << 20
      let bytes = file == "-" ? try StandardInput.readAll(limit: limit) : try Files.read(file ?? "", limit: limit)
      return RefundCustomer.named(
        in: String(decoding: bytes, as: UTF8.self), bundleId: bundleId, environment: app.environment)
    }
  }
}
