// The flags that select records, for replays and dead letters.

import AppStore
import ArgumentParser
import MillraceCore
import MillraceRecords
import MillraceTime
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

  @Option(
    help: ArgumentHelp(
      "The first offset of one partition; or, like --since, \(StartArgument.forms).", valueName: "offset or time"))
  var from: SelectionStart?

  @Option(help: ArgumentHelp("The end offset, exclusive.", valueName: "offset"))
  var to: Int64?

  @Option(help: ArgumentHelp("Written at or after this time: \(TimeArgument.forms).", valueName: "time"))
  var since: TimeArgument?

  @Option(help: ArgumentHelp("Written before this time, in the same forms.", valueName: "time"))
  var until: TimeArgument?

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
    if let to, to < 0 { throw ValidationError("--to must be 0 or more, not \(to).") }
    if since != nil, case .time = from { throw ValidationError("Pass either --since or a time with --from.") }
    for (flag, values, known) in [
      ("--type", type, KnownNames.notificationTypes), ("--subtype", subtype, KnownNames.subtypes),
      ("--environment", environment, AppStoreEnvironment.allKnown.map(\.rawValue)),
    ] {
      for value in values where !known.contains(value) {
        throw ValidationError("\(flag): there is no \(value); \(NearestName.remedy(for: value, among: known))")
      }
    }
    if let wrong = partition.first(where: { $0 < 0 }) {
      throw ValidationError("--partition must be 0 or more, not \(wrong).")
    }
  }

  /// Whether a flag selects.
  var isChosen: Bool {
    let lists = [topic, family, key, transaction, type, subtype, app, environment]
    return lists.contains { !$0.isEmpty } || !partition.isEmpty || from != nil || to != nil || since != nil
      || until != nil
  }

  /// The selection from the flags.
  /// - Throws: ``OperationError`` that names a family that the deployment does not have; `MillraceError`.
  func selection(in configuration: MillraceConfiguration, now: Timestamp) throws -> RecordSelection {
    var selection = RecordSelection()
    selection.topics = topic + (try TopicSelection.topics(of: family, in: configuration))
    selection.partitions = partition
    selection.to = to
    selection.since = since?.time(at: now)
    selection.until = until?.time(at: now)
    switch from {
    case .offset(let offset): selection.from = offset
    case .time(let start): selection.since = start.time(at: now)
    case nil: break
    }
    (selection.keys, selection.transactions) = (key, transaction)
    (selection.types, selection.subtypes) = (type, subtype)
    (selection.apps, selection.environments) = (app, environment)
    return selection
  }
}

/// The value of `--from`: an offset, or a time.
enum SelectionStart: ExpressibleByArgument {
  case offset(Int64)
  case time(StartArgument)

  init?(argument: String) {
    if let offset = Int64(argument) {
      guard offset >= 0 else { return nil }
      self = .offset(offset)
    } else {
      guard let time = StartArgument(argument) else { return nil }
      self = .time(time)
    }
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
