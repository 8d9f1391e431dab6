// `millrace subscriptions show|verify|import`

import AppStore
import AppStoreServerAPI
import ArgumentParser
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import MillraceWorker
import Operations
import Subscriptions

struct SubscriptionsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscriptions",
    abstract: "Look up, check and import subscriptions.",
    discussion: """
      Examples:
        millrace subscriptions show 7e3fb20b-4cdb-47cc-936d-99d65f608138
        millrace subscriptions verify --sample 100
        millrace subscriptions import customers.txt
      """,
    subcommands: [Show.self, Verify.self, Import.self])

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Say whether a customer is entitled, and print the row of each subscription or purchase.",
      discussion: """
        Finds the customer by any transaction, an order ID, an appAccountToken or the id of a notification. Looks in \
        the tables first, asks Apple about unknown transactions and about orders within the app's budget, and reads the \
        notifications last. An erased customer is called erased. The exit status is 1 if there is no row.

        Examples:
          millrace subscriptions show 2000000123450000
          millrace subscriptions show 7e3fb20b-4cdb-47cc-936d-99d65f608138
          millrace subscriptions show MK5TTTVWJH
          millrace subscriptions show 2000000123450000 --json | jq -r .entitledUntil
        """)

    @Argument(
      help: ArgumentHelp("A transaction, an order ID, an appAccountToken or the id of a notification.", valueName: "id")
    )
    var id: String

    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func run() async throws {
      let command = self
      try await conclude { console in
        let configuration = try command.shared.load().configuration
        let lookup = try await CustomerLookup(command.id, configuration, console)
        let now = MillraceClock(configuration.clock).wallTime
        let out = console.out
        for (number, state) in lookup.states.enumerated() where state.row != nil {
          if command.output.wantsJSON(console) {
            try out.line(String(decoding: state.json(at: now).serialized(), as: UTF8.self))
          } else {
            var sheet = FactSheet()
            sheet.add("entitled", state.entitlement(at: now), state.isEntitled(at: now) == true ? .green : .red)
            sheet.add("erased", state.erasedAt.map { "\($0.rfc3339); later notifications brought it back" }, .yellow)
            sheet.add("quarantined", state.claims, .yellow)
            for member in state.row?.members ?? [] { sheet.add(member.key, member.value.oneLine) }
            try out.lines((number > 0 ? [""] : []) + sheet.lines(usesColor: out.usesColor))
          }
        }
        for state in lookup.states where state.row == nil {
          console.err.note(TerminalText.safe(state.explanation))
        }
        return lookup.states.contains { $0.row != nil } ? .success : .failure
      }
    }
  }

  struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Compare a sample of subscriptions with Apple.",
      discussion: """
        Reads the table, asks Apple about a random sample, and prints the rows that differ. A row may differ for a \
        moment because a notification is on its way. Uses a quarter of the app's call budget. The exit status is 1 if \
        a row differs.

        Examples:
          millrace subscriptions verify --sample 100 --all
          millrace subscriptions verify --sample 1000 --json | jq 'select(.result != "equal")'
          millrace subscriptions verify 2000000123450000
        """)

    @Argument(help: ArgumentHelp("Subscriptions to compare; without them a random sample.", valueName: "id"))
    var ids: [String] = []

    @Option(help: ArgumentHelp("How many subscriptions to compare.", valueName: "count"))
    var sample = 100

    @Flag(help: "Print the rows that are equal, too.")
    var all = false

    @OptionGroup var options: APICommand.Options

    func validate() throws {
      guard (1...100_000).contains(sample) else { throw ValidationError("--sample must be 1 to 100000.") }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.options.shared.load().configuration
        let app = try APIApp(app: command.options.app, environment: command.options.environment, in: configuration)
        let clock = MillraceClock(configuration.clock)
        let table = try await SubscriptionTable.connect(configuration, console)
        var random = SystemRandomNumberGenerator()
        var rows: [JSONObject] = []
        if command.ids.isEmpty {
          rows = try await table.sample(command.sample, of: app.settings.bundleId, by: &random)
          guard !rows.isEmpty else {
            throw OperationError(
              .failed, "the table has no subscriptions of this app", at: app.settings.bundleId,
              remedy: "start millrace-subscriptions, or import customers: millrace subscriptions import")
          }
        } else {
          rows = try await table.rows(of: Set(command.ids))
          let known = Set(rows.compactMap { $0["originalTransactionId"]?.oneLine })
          if let id = command.ids.first(where: { !known.contains($0) }) {
            throw OperationError(
              .failed, "there is no subscription", at: id, remedy: "import it: millrace subscriptions import")
          }
        }
        let compared = rows
        let asJSON = command.options.output.wantsJSON(console)
        return try await APIAccess.with(app, configuration, clock: clock) { client in
          let check = SubscriptionCheck(client.askingSandboxBeforeRelease { console.err.note($0) }, clock: clock)
          var (equal, different) = (0, 0)
          for row in compared {
            let result = try await check.check(row)
            if case .equal = result { equal += 1 } else { different += 1 }
            if asJSON {
              try console.out.line(result.jsonLine)
            } else if let line = result.line {
              try console.out.line(line)
            } else if command.all {
              let fields = ["originalTransactionId", "productId", "status", "expiresDate"].map {
                row[$0]?.oneLine ?? ""
              }
              try console.out.line("\(fields[0])  \(fields[1])  \(fields[2]), period ends \(fields[3]): as Apple says")
            }
          }
          console.err.note("Compared \(compared.count) subscriptions: \(equal) are as Apple says, \(different) differ.")
          return different == 0 ? .success : .failure
        }
      }
    }
  }

  struct Import: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Ask Apple about customers from before Millrace.",
      discussion: """
        Writes a request to millrace.subscription-imports for each originalTransactionId in FILE (one in a line, - for \
        standard input). The worker `subscriptions` asks Apple within the app's budget and fills its tables; it \
        publishes no events about purchases of the past. An id is asked about once, however often it is imported, so \
        an interrupted import can be started again. Any other transaction of a customer works too, but takes a second \
        call. The audit trail has a line for it, without the ids (millrace audit).

        Examples:
          millrace subscriptions import customers.txt --by ann
          psql -At -c 'select original_transaction_id from customers' | millrace subscriptions import -
        """)

    @Argument(help: ArgumentHelp("Transactions, one in a line; - for standard input.", valueName: "file"))
    var file: String

    @Flag(help: "Return as soon as the requests are written, without waiting for the worker.")
    var noWait = false

    @Flag(help: "Ask again about ids that were imported before.")
    var again = false

    @Option(help: ArgumentHelp("The operator; by default this user.", valueName: "name"))
    var by: String?

    @OptionGroup var options: APICommand.Options

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let author = try CommandingOptions.author(command.by)
        let configuration = try command.options.shared.load().configuration
        let app = try APIApp(app: command.options.app, environment: command.options.environment, in: configuration)
        let environment = app.environment ?? (app.settings.environments.contains(.production) ? .production : .sandbox)
        let clock = MillraceClock(configuration.clock)
        let list = SubscriptionImport.List(try command.bytes())
        guard list.invalidLines.isEmpty else {
          let lines = list.invalidLines.prefix(5).map { "\($0)" }.joined(separator: ", ")
          throw OperationError(
            .usage, "\(list.invalidLines.count) lines are not transaction ids: \(lines)", at: command.file,
            remedy: "write one transaction id in a line")
        }
        let start = clock.wallTime
        let round = command.again ? start.rfc3339 : ""
        let run = CommandID.new()
        let requests = list.ids.map {
          ImportRecord($0, bundleId: app.settings.bundleId, environment: environment, round: round, run: run)
        }
        let log = try await configuration.connect(console)
        let marks = try await ErasedCustomers(configuration, on: log).current()
        let kept = requests.filter { !marks.include(Array($0.transactionId.utf8), signed: nil) }
        if kept.count < requests.count {
          console.err.note("\(HumanText.count(requests.count - kept.count, "erased customer")) left out")
        }
        let policy = configuration.policy(of: SubscriptionsWorker.name, standard: SubscriptionsWorker.policy)
        let topics = WorkerTopics(SubscriptionsWorker.self, configuration, policy)
        // This consumer is never run, so it never joins the group.
        let group = try KafkaConsumer(
          try configuration.kafka.outsideClient(), subscription: .group(topics.group, topics: []))
        let prefix = configuration.topics.prefix
        let selection: JSONObject = [
          "bundleId": .string(app.settings.bundleId), "environment": .string(environment.rawValue),
          "again": .bool(command.again),
        ]
        try await AuditLog(on: log, prefix: prefix).record(
          .importRequest, run: run, by: author, clock: clock, target: SubscriptionsWorker.name, selection: selection
        ) {
          try await SubscriptionImport(on: log, prefix: prefix, clock: clock)
            .write(kept) { count in console.err.note("\(count) of \(kept.count) requests written") }
        } end: {
          (.done, [.init("requested", Int64(kept.count))])
        }
        guard !command.noWait else {
          console.err.note("run \(run); see later: millrace replay status \(run)")
          return .success
        }
        let progress = ImportProgress(
          of: Set(kept.map(\.id)), in: SubscriptionImport.topics(of: topics, prefix: configuration.topics.prefix),
          of: log
        ) { try await group.committed($0, timeout: .seconds(15)) }
        try await progress.watch(clock: .system) { console.err.note($0) }
        try await console.noteOutcomes(of: run, .importRequest, since: start, in: log, configuration)
        return .success
      }
    }

    private func bytes() throws -> [UInt8] {
      let limit = 1 << 30
      return file == "-" ? try StandardInput.readAll(limit: limit) : try Files.read(file, limit: limit)
    }
  }
}

extension SubscriptionTable {
  fileprivate static func connect(
    _ configuration: MillraceConfiguration, _ console: Console
  ) async throws -> SubscriptionTable {
    let log = try await configuration.connect(console)
    return SubscriptionTable(in: log, prefix: configuration.topics.prefix)
  }
}
