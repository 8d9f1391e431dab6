// The flags that choose records: the same for replay and dead letters.

import AppStore
import ArgumentParser
import Clocks
import Millrace
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

  @Option(help: ArgumentHelp("The offset behind the last.", valueName: "offset"))
  var to: Int64?

  @Option(
    help: ArgumentHelp("Written then or later: RFC 3339, or a duration before now such as 2h.", valueName: "time"))
  var since: String?

  @Option(help: ArgumentHelp("Written before: RFC 3339, or a duration before now.", valueName: "time"))
  var until: String?

  @Option(help: ArgumentHelp("A record key, as a rule an original transaction; may be repeated.", valueName: "key"))
  var key: [String] = []

  @Option(
    help: ArgumentHelp(
      "A transaction or original transaction; may be repeated. Decodes what everything else chose.", valueName: "id"))
  var transaction: [String] = []

  @Option(help: ArgumentHelp("A notification type as Apple writes it; may be repeated.", valueName: "TYPE"))
  var type: [String] = []

  @Option(help: ArgumentHelp("A subtype as Apple writes it; may be repeated.", valueName: "SUBTYPE"))
  var subtype: [String] = []

  @Option(help: ArgumentHelp("An app by its bundle id; may be repeated.", valueName: "bundle id"))
  var app: [String] = []

  @Option(help: ArgumentHelp("Production or Sandbox; may be repeated.", valueName: "name"))
  var environment: [String] = []

  func validate() throws {
    for (flag, value) in [("--since", since), ("--until", until)] {
      guard let value, Self.moment(value, now: Timestamp(millisecondsSince1970: 0)) == nil else { continue }
      throw ValidationError("\(flag) is a time such as 2026-03-01T12:00:00Z, or a duration before now such as 2h.")
    }
    for (flag, offset) in [("--from", from), ("--to", to)] {
      if let offset, offset < 0 { throw ValidationError("\(flag) is an offset, 0 or more, not \(offset).") }
    }
    if let wrong = partition.first(where: { $0 < 0 }) {
      throw ValidationError("--partition is 0 or more, not \(wrong).")
    }
  }

  private static func moment(_ text: String, now: Timestamp) -> Timestamp? {
    Timestamp(rfc3339: text) ?? DurationText.parse(text).map { now - $0 }
  }

  /// What the flags choose.
  /// - Parameter prefix: Put before the names of families' topics.
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

/// How fast and how many.
struct PaceOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Records a second at most.", valueName: "count"))
  var rate: Int?

  @Option(help: ArgumentHelp("Records at most, the first ones by topic, partition and offset.", valueName: "count"))
  var limit: Int?

  @Flag(help: "Count and show samples, do nothing.")
  var dryRun = false

  func validate() throws {
    for (flag, value) in [("--rate", rate), ("--limit", limit)] {
      if let value, value < 1 { throw ValidationError("\(flag) must be 1 or more, not \(value).") }
    }
  }
}
