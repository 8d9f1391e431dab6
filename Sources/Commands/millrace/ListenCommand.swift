// `millrace listen`

internal import ArgumentParser
import MillraceRecords
import MillraceTime
import Operations
internal import MillraceCore

struct ListenCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Show records as they arrive, decoded.",
    discussion: """
      Reads all notification topics and the quarantine without a consumer group, so it commits nothing and disturbs no \
      consumer. With --worker or --all it reads events, tables, decoded records, delayed records, dead letters and the \
      audit trail as well. Records are decoded, not verified. Prints a table on a terminal and JSON lines to a pipe. \
      Payloads are personal data and are printed only with --payload.

      Examples:
        millrace listen
        millrace listen --family refunds --family tests --from earliest
        millrace listen --family refunds --from 90m
        millrace listen --topic appstore.notifications.tests --limit 1
        millrace listen --worker refunds --since 1d --key 2000000123450000
        millrace listen --all --type REFUND --type entitlement.revoked --app com.example.app
        millrace listen --json | jq 'select(.type == "REFUND") | .price'
      """)

  @Option(help: ArgumentHelp("A topic by its name in Kafka; may be repeated.", valueName: "name"))
  var topic: [String] = []

  @Option(
    help: ArgumentHelp(
      "A family of notifications, such as refunds for appstore.notifications.refunds; may be repeated.",
      valueName: "name"))
  var family: [String] = []

  @Option(
    help: ArgumentHelp(
      "The events, delayed records, replays and dead letters of a worker; may be repeated.", valueName: "name"))
  var worker: [String] = []

  @Flag(help: "Every topic but ledgers and the messages between processes.")
  var all = false

  @Option(
    help: ArgumentHelp(
      "A notification type as Apple writes it, or the name of an event; may be repeated.", valueName: "type"))
  var type: [String] = []

  @Option(help: ArgumentHelp("A record key, usually an original transaction ID; may be repeated.", valueName: "key"))
  var key: [String] = []

  @Option(help: ArgumentHelp("An app's bundle ID; may be repeated.", valueName: "bundle id"))
  var app: [String] = []

  @Option(help: ArgumentHelp("The start: \(StartArgument.forms).", valueName: "time"))
  var from = StartArgument.latest

  @Option(help: ArgumentHelp("Written at or after this time: \(TimeArgument.forms).", valueName: "time"))
  var since: TimeArgument?

  @Flag(help: "Print payloads, which are personal data.")
  var payload = false

  @Option(help: ArgumentHelp("End after this number of records.", valueName: "count"))
  var limit: Int?

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more, not \(limit).") }
    if since != nil, from != .latest { throw ValidationError("Pass either --since or --from.") }
  }

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let configuration = try command.shared.load().configuration
      for worker in command.worker { try configuration.check(worker: worker) }
      var filter = RecordFilter()
      (filter.types, filter.keys, filter.apps) = (command.type, command.key, command.app)
      try filter.check(in: configuration)
      try filter.check(appsOf: configuration)
      let selection = TopicSelection(
        topics: command.topic, families: command.family, workers: command.worker, isEverything: command.all)
      let catalog = selection.needsCatalog ? try TopicCatalog.load(configuration) : nil
      let kafka = try configuration.cluster(console)
      let listener = Listener(
        kafka, topics: try selection.names(in: catalog),
        start: command.since.map { .time($0) } ?? command.from, clock: MillraceClock(configuration.clock))
      let printer = RecordPrinter(
        console.out, asJSON: command.output.wantsJSON(console), limit: command.limit, filter: filter,
        withPayload: command.payload)
      try await listener.run { reading in
        for topic in reading.missing {
          console.err.note(
            "\(topic) does not exist, or this user may not describe it; create it with millrace topics apply")
        }
        console.err.note(reading.sentence)
      } onTrouble: { trouble in
        console.err.note(trouble)
      } deliver: { records in
        try await printer.print(records)
      }
      return .success
    }
  }
}
