// `millrace api …`: asks the App Store Server API about one customer, one order, one URL.

import AppStoreServerAPI
public import ArgumentParser
import Clocks
import Millrace
import Operations

struct APICommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "api",
    abstract: "Ask the App Store Server API: transactions, subscriptions, refunds, orders, test notifications.",
    discussion: """
      Everything that Apple signed is verified before it is shown. In a terminal for people, JSON lines when piped: the \
      payloads as Apple signed them, every field included. --json and --no-json choose.

      The app needs credentials (apps[].api in the configuration). Without --environment production is asked first, and \
      the sandbox when production does not know the transaction. Commands take a part of the app's budget of calls.

      Examples:
        millrace api transaction 2000000123456789
        millrace api history 2000000123456789 --type auto-renewable --from 2026-01-01
        millrace api statuses 2000000123456789 --app com.example.app
        millrace api test-notification --environment Sandbox
      """,
    subcommands: [
      Transaction.self, History.self, Statuses.self, Refunds.self, Order.self, AppTransactionCommand.self,
      TestNotification.self,
    ])

  /// What every question has.
  struct Options: ParsableArguments {
    @Option(help: ArgumentHelp("The app, when the configuration has several.", valueName: "bundle id"))
    var app: String?

    @Option(help: ArgumentHelp("Where to ask: Production or Sandbox.", valueName: "name"))
    var environment: String?

    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    /// Asks one question.
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

    @Argument(help: ArgumentHelp("A transaction, or an original transaction.", valueName: "transaction id"))
    var id: String

    @OptionGroup var options: Options

    func run() async throws {
      let (id, options) = (self.id, self.options)
      try await conclude(finishesOnSignal: true) { try await options.ask(on: $0) { try await $0.transaction(id) } }
    }
  }

  struct History: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show what a customer bought, in the order of the last change.",
      discussion: """
        Examples:
          millrace api history 2000000123456789 --newest-first --limit 5
          millrace api history 2000000123456789 --type consumable --from 2026-01-01 --until 2026-02-01
          millrace api history 2000000123456789 --revoked | jq -r .transactionId
        """)

    @Argument(help: ArgumentHelp("Any transaction of the customer.", valueName: "transaction id"))
    var id: String

    @Option(help: ArgumentHelp("Only from this day or moment on, UTC.", valueName: "date"))
    var from: String?

    @Option(help: ArgumentHelp("Only until this day or moment, UTC.", valueName: "date"))
    var until: String?

    @Option(help: ArgumentHelp("Only this product; may be given more than once.", valueName: "product id"))
    var product: [String] = []

    @Option(help: "Only this type of product; may be given more than once.")
    var type: [HistoryFilter.ProductKind] = []

    @Option(help: ArgumentHelp("Only this subscription group; may be given more than once.", valueName: "id"))
    var group: [String] = []

    @Flag(inversion: .prefixedNo, help: "Only what was revoked, or only what was not.")
    var revoked: Bool?

    @Flag(help: "What changed last first.")
    var newestFirst = false

    @Option(help: ArgumentHelp("How many transactions at most.", valueName: "count"))
    var limit: Int?

    @OptionGroup var options: Options

    func validate() throws { try check(limit: limit) }

    func run() async throws {
      var filter = HistoryFilter()
      (filter.from, filter.until, filter.products, filter.types) = (from, until, product, type)
      (filter.groups, filter.revoked, filter.isNewestFirst) = (group, revoked, newestFirst)
      let (id, limit, options, flags) = (self.id, self.limit, self.options, filter)
      try await conclude(finishesOnSignal: true) { console in
        let request = try flags.request()
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

    @Option(help: "Only subscriptions in this state; may be given more than once.")
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
      abstract: "Show what a customer got back.",
      discussion: """
        Examples:
          millrace api refunds 2000000123456789
          millrace api refunds 2000000123456789 | jq '[.transactionId, .revocationDate]'
        """)

    @Argument(help: ArgumentHelp("Any transaction of the customer.", valueName: "transaction id"))
    var id: String

    @Option(help: ArgumentHelp("How many refunds at most.", valueName: "count"))
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
      abstract: "Show what was bought with an order, by the id on the customer's receipt.",
      discussion: """
        In production only. Ends with 1 when Apple knows no such order of this app.

        Examples:
          millrace api order MK5TTTVWJH
          millrace api order MK5TTTVWJH | jq -r .originalTransactionId
        """)

    @Argument(help: ArgumentHelp("The order on the receipt.", valueName: "order id"))
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

/// What `--limit` takes.
private func check(limit: Int?) throws {
  if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more.") }
}

extension HistoryFilter.ProductKind: ExpressibleByArgument {}
extension SubscriptionStatusName: ExpressibleByArgument {}
