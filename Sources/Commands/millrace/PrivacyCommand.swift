// `millrace privacy erase`

import AppStore
import ArgumentParser
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import Operations

struct PrivacyCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "privacy",
    abstract: "Erase a customer.",
    discussion: """
      Examples:
        millrace privacy erase --original-transaction-id 2000000123450000 --why "request 4711"
      """,
    subcommands: [Erase.self])

  struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Erase a customer from workers, tables and databases.",
      discussion: """
        Every worker erases what it keeps about the customer and publishes customer.erased; millrace-postgres deletes \
        the rows. A mark remains: replays, imports and backfills do not bring the customer back. This cannot be undone.

        Lists the records that only retention removes, with the dates, and the topics that are not erased. Needs privacy.keyFile. Exits with 1 if a \
        worker has not answered; it erases the customer when it runs.

        Examples:
          millrace privacy erase --original-transaction-id 2000000123450000 --why "request 4711"
          millrace privacy erase --app-account-token 7e3fb204-2a3b-4e4b-9d5c-1f0a7c9d2e11 --why "request 4712" --yes
        """)

    @Option(help: ArgumentHelp("The customer's token, as your app gave it to StoreKit.", valueName: "uuid"))
    var appAccountToken: String?

    @Option(help: ArgumentHelp("An originalTransactionId; may be repeated.", valueName: "id"))
    var originalTransactionId: [String] = []

    @Option(help: ArgumentHelp("The reason; it is stored in the audit trail. Name no customer.", valueName: "text"))
    var why: String

    @Flag(help: "Do not ask for confirmation.")
    var yes = false

    @OptionGroup var commanding: CommandingOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var shared: SharedOptions

    func validate() throws {
      guard (appAccountToken == nil) != originalTransactionId.isEmpty else {
        throw ValidationError("Pass either --app-account-token or --original-transaction-id.")
      }
      if why.allSatisfy(\.isWhitespace) { throw ValidationError("--why must not be empty; it is put on record.") }
      for id in originalTransactionId where id.isEmpty || id.contains(where: { !$0.isASCII || !$0.isNumber }) {
        throw ValidationError("--original-transaction-id must be a number, not \(id).")
      }
    }

    func run() async throws {
      let command = self
      try await conclude(finishesOnSignal: true) { console in
        let configuration = try command.shared.load().configuration
        let log = try await configuration.connect(console)
        let erasure = try await CustomerErasure(configuration, on: log, author: try command.commanding.author)
        let ids = try await command.ids(erasure, console)
        guard !ids.isEmpty else {
          console.err.note("No row and no notification has this token. Nothing was erased.")
          return .failure
        }
        let question = "Erase \(ids.joined(separator: ", ")) in \(erasure.workerNames.joined(separator: ", "))?"
        let approval = try Approval.of(isGiven: command.yes, canAsk: StandardInput.isTerminal, question: question) {
          console.err.note($0)
          return StandardInput.readLine()
        }
        guard approval == .granted else {
          console.err.note("nothing was erased")
          return .failure
        }
        let asJSON = command.output.wantsJSON(console)
        let results = try await erasure.erase(
          ids, why: command.why, patience: command.commanding.patience, report: { _ in })
        var status = CommandStatus.success
        for (worker, summary) in results {
          console.err.note("\(worker): \(summary.sentence)")
          if summary.status != .success { status = summary.status }
        }
        try await command.showRemains(
          configuration, try configuration.kafka.outsideClient(), console, asJSON: asJSON)
        return status
      }
    }

    private func ids(_ erasure: CustomerErasure, _ console: Console) async throws -> [String] {
      guard let appAccountToken else { return Set(originalTransactionId).sorted() }
      let ids = try await erasure.transactions(of: appAccountToken) { count in
        if count % 100_000 < 1_000 { console.err.note("\(count) records read") }
      }
      if !ids.isEmpty { console.err.note("The token belongs to \(ids.joined(separator: ", ")).") }
      return ids
    }

    private func showRemains(
      _ configuration: MillraceConfiguration, _ kafka: KafkaConfiguration, _ console: Console, asJSON: Bool
    ) async throws {
      let catalog = try TopicCatalog.load(configuration)
      let names = Dictionary(catalog.topics.map { ($0.topic, $0.name) }) { first, _ in first }
      let present = try await KafkaAdmin(kafka).describeTopics(Array(names.keys), timeout: .seconds(15))
      let copies = RemainingCopies.all(present, named: names, now: MillraceClock(configuration.clock).wallTime)
      let out = console.out
      try out.lines(
        asJSON
          ? copies.map(\.jsonLine)
          : TextTable.lines(
            RemainingCopies.columns, rows: copies.map(\.row), lineWidth: out.width, usesColor: out.usesColor))
    }
  }
}
