// The flags that select records, for replays and dead letters.

import AppStore
import ArgumentParser
import MillraceTime
import MillraceRecords
import Operations

struct SelectionOptions: ParsableArguments {
  @Option(help: ArgumentHelp("A topic, by its name in Kafka; may be repeated.", valueName: "name"))
  var topic: [String] = []

  @Option(
    help: ArgumentHelp(
      "A family of notifications, such as refunds for appstore.notifications.refunds; may be repeated.",
      valueName: "name"))
  var family: [String] = []

  @Option(help: ArgumentHelp("A partition; may be repeated.", valueName: "number"))
  var partition: [Int32] = []

  @Option(help: ArgumentHelp("The first offset of one partition.", valueName: "offset"))
  var from: Int64?

  @Option(help: ArgumentHelp("The end offset, exclusive.", valueName: "offset"))
  var to: Int64?

  @Option(
    help: ArgumentHelp("Written at or after this time: RFC 3339, or an age such as 2h.", valueName: "time"))
  var since: String?

  @Option(help: ArgumentHelp("Written before this time: RFC 3339, or an age such as 2h.", valueName: "time"))
  var until: String?

  @Option(help: ArgumentHelp("A record key, usually an original transaction ID; may be repeated.", valueName: "key"))
  var key: [String] = []

  @Option(
    help: ArgumentHelp(
      "A transaction or original transaction ID; may be repeated. Decodes what the rest selected.", valueName: "id"))
  var transaction: [String] = []

  @Option(help: ArgumentHelp("A notification type as Apple writes it; may be repeated.", valueName: "TYPE"))
  var type: [String] = []

  @Option(help: ArgumentHelp("A subtype as Apple writes it; may be repeated.", valueName: "SUBTYPE"))
  var subtype: [String] = []

  @Option(help: ArgumentHelp("An app's bundle ID; may be repeated.", valueName: "bundle id"))
  var app: [String] = []

  @Option(help: ArgumentHelp("Production or Sandbox; may be repeated.", valueName: "name"))
  var environment: [String] = []

  func validate() throws {
    for (flag, value) in [("--since", since), ("--until", until)] {
      guard let value, Self.moment(value, now: Timestamp(millisecondsSince1970: 0)) == nil else { continue }
      throw ValidationError("\(flag) must be a time such as 2026-03-01T12:00:00Z, or an age such as 2h.")
    }
    for (flag, offset) in [("--from", from), ("--to", to)] {
      if let offset, offset < 0 { throw ValidationError("\(flag) must be 0 or more, not \(offset).") }
    }
    if let wrong = partition.first(where: { $0 < 0 }) {
      throw ValidationError("--partition must be 0 or more, not \(wrong).")
    }
  }

  private static func moment(_ text: String, now: Timestamp) -> Timestamp? {
    Timestamp(rfc3339: text) ?? DurationText.parse(text).map { now - $0 }
  }

  /// The selection from the flags.
  /// - Parameter prefix: The prefix of the families' topic names.
  func selection(prefix: String = "", now: Timestamp) -> RecordSelection {
    var selection = RecordSelection()
    selection.topics = topic + family.map { prefix + TopicSelection.familyPrefix + $0 }
    selection.partitions = partition
    (selection.from, selection.to) = (from, to)
    selection.since = since.flatMap { Self.moment($0, now: now) }
    selection.until = until.flatMap { Self.moment($0, now: now) }
    (selection.keys, selection.transactions) = (key, transaction)
    (selection.types, selection.subtypes) = (type, subtype)
    (selection.apps, selection.environments) = (app, environment)
    return selection
  }
}

/// The flags for the rate and the number of records.
struct PaceOptions: ParsableArguments {
  @Option(help: ArgumentHelp("The maximum number of records per second.", valueName: "count"))
  var rate: Int?

  @Option(help: ArgumentHelp("The maximum number of records, by topic, partition and offset.", valueName: "count"))
  var limit: Int?

  @Flag(help: "Only count the records and show samples.")
  var dryRun = false

  func validate() throws {
    for (flag, value) in [("--rate", rate), ("--limit", limit)] {
      if let value, value < 1 { throw ValidationError("\(flag) must be 1 or more, not \(value).") }
    }
  }
}
