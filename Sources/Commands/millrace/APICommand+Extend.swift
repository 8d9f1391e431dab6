// `millrace api extend`

import AppStoreServerAPI
import ArgumentParser
import MillraceCore
import MillraceRecords
import MillraceTime
import Operations
import RenewalExtensions

extension APICommand {
  struct Extend: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Extend the subscription of one customer.",
      discussion: """
        Checks days, reason, status, family sharing and earlier extensions of this command, shows the request, and \
        asks for confirmation. The audit trail in Kafka has the request before Apple. If Apple does not answer, repeat \
        the command with the printed --request-identifier: it asks Apple whether the first request had its effect.

        Reasons: 0 undeclared, 1 customer satisfaction, 2 other, 3 service issue or outage.

        Examples:
          millrace api extend 2000000123456789 --days 7 --reason 1 --why "ticket 4711"
          millrace api extend 2000000123456789 --days 7 --reason 1 --why "ticket 4711" \
        --request-identifier 1f0c9a52-7f0e-4d39-9f6b-0c1b5a9d2e11
        """)

    @Argument(help: ArgumentHelp("The subscription's original transaction.", valueName: "original transaction id"))
    var id: String

    @Option(help: ArgumentHelp("The number of days, 1 to 90.", valueName: "number"))
    var days: Int

    @Option(help: ArgumentHelp("The reason, 0 to 3.", valueName: "number"))
    var reason: Int

    @Option(help: ArgumentHelp("The reason for the audit trail.", valueName: "text"))
    var why: String

    @Option(help: ArgumentHelp("Repeat the request with this identifier.", valueName: "text"))
    var requestIdentifier: String?

    @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var consent: CampaignsCommand.Consent
    @OptionGroup var options: APICommand.Options

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        // A wrong command line is refused before anything is connected.
        _ = try ExtendOperation.request(
          days: command.days, reason: command.reason, identifier: command.requestIdentifier)
        let configuration = try command.options.shared.load().configuration
        let app = try APIApp(app: command.options.app, environment: command.options.environment, in: configuration)
        let clock = MillraceClock(configuration.clock)
        let log = try await configuration.connect(console)
        let audit = AuditLog(on: log, prefix: configuration.topics.prefix)
        return try await APIAccess.with(app, configuration, clock: clock) { client in
          let operation = ExtendOperation(
            client, in: app.oneEnvironment, audit: audit, by: try CommandingOptions.author(command.by), clock: clock)
          return try await command.extend(operation, on: console)
        }
      }
    }

    private func extend(_ operation: ExtendOperation, on console: Console) async throws -> CommandStatus {
      let plan = try await operation.plan(id, days: days, reason: reason, identifier: requestIdentifier)
      if plan.earlier == nil {
        for line in plan.lines { console.err.note(line) }
        guard try consent.isGiven("Send this to Apple?", on: console) else { return .failure }
      }
      let answer = try await operation.run(plan, why: why)
      console.err.note(answer.sentence(plan))
      return answer.status
    }
  }
}
