// `millrace timeline`

import AppStore
import ArgumentParser
import Console
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import Operations

struct TimelineCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "timeline",
    abstract: "Show what happened to a customer, newest first.",
    discussion: """
      Prints the state of each subscription and purchase, then its notifications with the outcome of every worker, \
      events with their deliveries, calls to Apple, delays with their reasons, and dead letters. Several delays of one \
      record are one entry. Finds the customer by any transaction, an order ID, an appAccountToken or the id of a \
      notification. Reads only the partitions of the customer. Payloads are printed only with --payload.

      Examples:
        millrace timeline 2000000123450000
        millrace timeline 7e3fb20b-4cdb-47cc-936d-99d65f608138 --since 7d
        millrace timeline MK5TTTVWJH --json | jq 'select(.kind == "dead")'
      """)

  @Argument(
    help: ArgumentHelp("A transaction, an order ID, an appAccountToken or the id of a notification.", valueName: "id"))
  var id: String

  @Option(
    help: ArgumentHelp(
      "Only from then on; by default console.timelineHorizon. \(TimeArgument.forms).", valueName: "time"))
  var since: TimeArgument?

  @Flag(help: "Print payloads, which are personal data.")
  var payload = false

  @OptionGroup var output: OutputOptions
  @OptionGroup var shared: SharedOptions

  func run() async throws {
    let command = self
    try await conclude(finishesOnSignal: true) { console in
      let configuration = try command.shared.load().configuration
      let lookup = try await CustomerLookup(command.id, configuration, console)
      let topics = ConsoleTopics(try TopicCatalog.load(configuration), configuration)
      // Kafka's index knows only real time.
      let real = MillraceClock.system.wallTime
      let since = command.since?.time(at: real) ?? real - configuration.console.timelineHorizon
      var count = 0
      for state in lookup.states {
        try command.show(state, at: MillraceClock(configuration.clock).wallTime, console)
        count += try await command.follow(
          TimelineReader(
            log: lookup.log,
            builder: TimelineBuilder(topics: topics, subject: state.key, showsPayloads: command.payload)
          ) { key in
            let operations = try WorkerOperations(
              worker: key.worker, prefix: configuration.topics.prefix, on: lookup.log, author: "")
            return try await operations.deadLetter(key.id).letter.state
          }, since: since, console)
      }
      return count > 0 || lookup.states.contains { $0.row != nil } ? .success : .failure
    }
  }

  private func show(_ state: CustomerState, at now: Timestamp, _ console: Console) throws {
    guard !output.wantsJSON(console) else {
      var json: JSONObject = ["kind": "state", "key": .string(state.key)]
      for member in state.json(at: now).members { json[member.key] = member.value }
      return try console.out.line(String(decoding: json.serialized(), as: UTF8.self))
    }
    var sheet = FactSheet()
    for fact in state.facts(at: now) { sheet.add(fact.name, fact.value) }
    try console.out.lines(sheet.lines(usesColor: console.out.usesColor) + [""])
  }

  /// Prints the entries, and returns their number.
  private func follow(_ reader: TimelineReader, since: Timestamp, _ console: Console) async throws -> Int {
    let (out, asJSON) = (console.out, output.wantsJSON(console))
    var count = 0
    let isWhole = try await reader.follow(since: since) { update in
      guard case .entry(let entry) = update else { return }
      count += 1
      try out.lines(asJSON ? [entry.jsonLine] : entry.lines(usesColor: out.usesColor))
    }
    console.err.note(
      isWhole
        ? "\(HumanText.count(count, "entry", plural: "entries")) since \(since.rfc3339)"
        : "Only the newest \(count) entries are shown; choose a later --since.")
    return count
  }
}
