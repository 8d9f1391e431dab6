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
      consumer. Records are decoded, not verified. Prints a table on a terminal and JSON lines to a pipe.

      Examples:
        millrace listen
        millrace listen --family refunds --family tests --from earliest
        millrace listen --family refunds --from 90m
        millrace listen --topic appstore.notifications.tests --limit 1
        millrace listen --json | jq 'select(.type == "REFUND") | .price'
      """)

  @Option(help: ArgumentHelp("A topic by its name in Kafka; may be repeated.", valueName: "name"))
  var topic: [String] = []

  @Option(
    help: ArgumentHelp(
      "A family of notifications, such as refunds for appstore.notifications.refunds; may be repeated.",
      valueName: "name"))
  var family: [String] = []

  @Option(help: ArgumentHelp("The start: \(StartArgument.forms).", valueName: "time"))
  var from = StartArgument.latest

  @Option(help: ArgumentHelp("End after this number of records.", valueName: "count"))
  var limit: Int?

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func validate() throws {
    if let limit, limit < 1 { throw ValidationError("--limit must be 1 or more, not \(limit).") }
  }

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let configuration = try command.shared.load().configuration
      let selection = TopicSelection(topics: command.topic, families: command.family)
      let catalog = selection.needsCatalog ? try TopicCatalog.load(configuration) : nil
      let kafka = try configuration.kafka.outsideClient().reporting { console.err.note($0) }
      let listener = Listener(
        kafka, topics: try selection.names(in: catalog), start: command.from,
        clock: MillraceClock(configuration.clock))
      let printer = RecordPrinter(
        console.out, asJSON: command.output.wantsJSON(console), limit: command.limit)
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
