// `millrace api …`: asks the App Store Server API about one customer, one order, one URL.

import AppStoreServerAPI
internal import ArgumentParser
import MillraceTime
import MillraceWorker
import Operations

struct APICommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api",
    abstract:
      "Ask the App Store Server API: transactions, subscriptions, refunds, orders, extensions, test notifications.",
    discussion: """
      Every payload is verified before it is shown. Prints text on a terminal and JSON lines to a pipe: the payloads \
      as Apple signed them, with every field. --json and --no-json override this.

      The app needs API credentials (apps[].api in the configuration). Without --environment, asks production first, \
      then the sandbox if production does not have the transaction. Each command uses a part of the app's call budget.

      Examples:
        millrace api transaction 2000000123456789
        millrace api history 2000000123456789 --type auto-renewable --from 2026-01-01
        millrace api statuses 2000000123456789 --app com.example.app
        millrace api test-notification --environment Sandbox
      """,
    subcommands: [
      Transaction.self, History.self, Statuses.self, Refunds.self, Order.self, AppTransactionCommand.self,
      TestNotification.self, Extend.self,
    ])

  /// The options of every subcommand.
  struct Options: ParsableArguments {
    @Option(help: ArgumentHelp("The app, if the configuration has several.", valueName: "bundle id"))
    var app: String?

    @Option(help: ArgumentHelp("The environment to ask: Production or Sandbox.", valueName: "name"))
    var environment: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    /// Asks Apple one question.
    func ask(
      on console: Console, _ question: @escaping @Sendable (APIOperation) async throws -> CommandStatus
    ) async throws -> CommandStatus {
      let configuration = try shared.load().configuration
      let app = try APIApp(app: app, environment: environment, in: configuration)
      let clock = MillraceClock(configuration.clock)
      return try await APIAccess.with(app, configuration, clock: clock) { client in
        try await question(
          APIOperation(
            client, in: app.environment, clock: clock, to: console.out, asJSON: output.wantsJSON(console)
          ) { console.err.note($0) })
      }
    }
  }

  struct Transaction: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show one transaction.",
      discussion: """
        Examples:
          millrace api transaction 2000000123456789
          millrace api transaction 2000000123456789 | jq .expiresDate
        """)

    @Argument(help: ArgumentHelp("A transaction ID or original transaction ID.", valueName: "transaction id"))
    var id: String

    @OptionGroup var options: Options

    func run() async throws {
      let (id, options) = (self.id, self.options)
      try await conclude(finishesOnSignal: true) { try await options.ask(on: $0) { try await $0.transaction(id) } }
    }
  }

  struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show a customer's purchases, in the order of their last change.",
      discussion: """
        Examples:
          millrace api history 2000000123456789 --newest-first --limit 5
          millrace api history 2000000123456789 --type consumable --from 2026-01-01 --until 2026-02-01
          millrace api history 2000000123456789 --revoked | jq -r .transactionId
        """)

    @Argument(help: ArgumentHelp("Any transaction of the customer.", valueName: "transaction id"))
    var id: String

    @Option(help: ArgumentHelp("Only from then on: \(StartArgument.forms).", valueName: "time"))
    var from: StartArgument?

    @Option(help: ArgumentHelp("Only until then: \(TimeArgument.forms).", valueName: "time"))
    var until: TimeArgument?

    @Option(help: ArgumentHelp("Only this product; may be repeated.", valueName: "product id"))
    var product: [String] = []

    @Option(help: "Only this type of product; may be repeated.")
    var type: [HistoryFilter.ProductKind] = []

    @Option(help: ArgumentHelp("Only this subscription group; may be repeated.", valueName: "id"))
    var group: [String] = []

    @Flag(inversion: .prefixedNo, help: "Only revoked transactions, or only those that are not revoked.")
    var revoked: Bool?

    @Flag(help: "Show the latest change first.")
    var newestFirst = false

    @Option(help: ArgumentHelp("The maximum number of transactions.", valueName: "count"))
    var limit: Int?

    @OptionGroup var options: Options

    func validate() throws { try check(limit: limit) }

    func run() async throws {
      var filter = HistoryFilter()
      (filter.from, filter.until, filter.products, filter.types) = (from, until, product, type)
      (filter.groups, filter.revoked, filter.isNewestFirst) = (group, revoked, newestFirst)
      let (id, limit, options, flags) = (self.id, self.limit, self.options, filter)
      try await conclude(finishesOnSignal: true) { console in
        let request = try flags.request(at: MillraceClock.system.wallTime)
        return try await options.ask(on: console) { try await $0.history(id, request, limit: limit) }
      }
    }
  }

  struct Statuses: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the state of a customer's subscriptions.",
      discussion: """
        Examples:
          millrace api statuses 2000000123456789
          millrace api statuses 2000000123456789 --status active --status grace-period
        """)

    @Argument(help: ArgumentHelp("Any transaction of the customer.", valueName: "transaction id"))
    var id: String

    @Option(help: "Only subscriptions in this state; may be repeated.")
    var status: [SubscriptionStatusName] = []

    @OptionGroup var options: Options

    func run() async throws {
      let (id, statuses, options) = (self.id, self.status.map(\.status), self.options)
      try await conclude(finishesOnSignal: true) {
        try await options.ask(on: $0) { try await $0.statuses(id, statuses) }
      }
    }
  }

  struct Refunds: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show a customer's refunds.",
      discussion: """
        Examples:
          millrace api refunds 2000000123456789
          millrace api refunds 2000000123456789 | jq '[.transactionId, .revocationDate]'
        """)

    @Argument(help: ArgumentHelp("Any transaction of the customer.", valueName: "transaction id"))
    var id: String

    @Option(help: ArgumentHelp("The maximum number of refunds.", valueName: "count"))
    var limit: Int?

    @OptionGroup var options: Options

    func validate() throws { try check(limit: limit) }

    func run() async throws {
      let (id, limit, options) = (self.id, self.limit, self.options)
      try await conclude(finishesOnSignal: true) {
        try await options.ask(on: $0) { try await $0.refunds(id, limit: limit) }
      }
    }
  }

  struct Order: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show the purchases of an order, by the order ID on the customer's receipt.",
      discussion: """
        Production only. Exits with 1 if Apple has no such order for this app.

        Examples:
          millrace api order MK5TTTVWJH
          millrace api order MK5TTTVWJH | jq -r .originalTransactionId
        """)

    @Argument(help: ArgumentHelp("The order ID on the receipt.", valueName: "order id"))
    var id: String

    @OptionGroup var options: Options

    func run() async throws {
      let (id, options) = (self.id, self.options)
      try await conclude(finishesOnSignal: true) { try await options.ask(on: $0) { try await $0.order(id) } }
    }
  }

  struct AppTransactionCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "app-transaction",
      abstract: "Show a customer's purchase of the app itself: first version, first download, platform.",
      discussion: """
        Examples:
          millrace api app-transaction 2000000123456789
          millrace api app-transaction 2000000123456789 | jq -r .originalApplicationVersion
        """)

    @Argument(help: ArgumentHelp("Any transaction of the customer.", valueName: "transaction id"))
    var id: String

    @OptionGroup var options: Options

    func run() async throws {
      let (id, options) = (self.id, self.options)
      try await conclude(finishesOnSignal: true) { try await options.ask(on: $0) { try await $0.appTransaction(id) } }
    }
  }
}

/// Checks the value of `--limit`.
private func check(limit: Int?) throws {
  if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
}

extension HistoryFilter.ProductKind: ExpressibleByArgument {}
extension SubscriptionStatusName: ExpressibleByArgument {}
