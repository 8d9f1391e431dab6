// Counts dead letters by worker, reason, app and age, for the command line, the console, the status and alerts. Keeps only
// counts, because the letters may not fit in memory. Pure.

package import AppStore
internal import KafkaClient
internal import MillraceRecords

/// The number of dead letters in each group.
public struct DeadLetterGroups: Sendable, Hashable {
  /// The age of a dead letter.
  package enum Age: String, Sendable, Hashable, CaseIterable, Comparable {
    /// Less than an hour.
    case hour = "1h"
    /// Less than a day.
    case day = "1d"
    /// Less than a week.
    case week = "7d"
    /// A week or more.
    case older

    init(_ age: Duration) {
      switch age {
      case ..<Duration.seconds(3_600): self = .hour
      case ..<Duration.seconds(86_400): self = .day
      case ..<Duration.seconds(7 * 86_400): self = .week
      default: self = .older
      }
    }

    /// Orders by increasing age.
    package static func < (left: Age, right: Age) -> Bool {
      (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }

    /// `< 1h`, `< 1d`, `< 7d`, `older`.
    package var text: String { self == .older ? rawValue : "< \(rawValue)" }
  }

  /// The common properties of a group.
  package struct Key: Sendable, Hashable, Comparable {
    /// The worker.
    package var worker: String
    /// The reason.
    package var reason: String
    /// The claimed app; empty if there is none.
    package var app: String
    /// The age; nil if the group has dead letters of any age.
    package var age: Age?

    /// Creates a key.
    package init(worker: String, reason: String, app: String, age: Age? = nil) {
      (self.worker, self.reason, self.app, self.age) = (worker, reason, app, age)
    }

    /// Orders by worker, reason, app and age.
    package static func < (left: Key, right: Key) -> Bool {
      let names = ([left.worker, left.reason, left.app], [right.worker, right.reason, right.app])
      if names.0 != names.1 { return names.0.lexicographicallyPrecedes(names.1) }
      return (left.age ?? .hour) < (right.age ?? .hour)
    }
  }

  /// A group of dead letters.
  package struct Group: Sendable, Hashable {
    /// The common properties.
    package var key: Key
    /// The number of dead letters.
    package var count = 0
    /// The number of unsettled dead letters.
    package var open = 0
    /// The time of the oldest dead letter.
    package var oldest: Timestamp
    /// The time of the newest dead letter.
    package var newest: Timestamp
  }

  private var byKey: [Key: Group] = [:]

  /// No groups.
  package init() {}

  /// Counts a dead letter.
  package mutating func add(_ key: Key, isOpen: Bool, at time: Timestamp) {
    var group = byKey[key] ?? Group(key: key, oldest: time, newest: time)
    group.count += 1
    if isOpen { group.open += 1 }
    (group.oldest, group.newest) = (min(group.oldest, time), max(group.newest, time))
    byKey[key] = group
  }

  /// Adds the groups of another worker.
  package mutating func add(_ other: DeadLetterGroups) { byKey.merge(other.byKey) { first, _ in first } }

  /// The groups, ordered by worker, then largest first.
  package var groups: [Group] {
    byKey.values.sorted { left, right in
      if left.key.worker != right.key.worker { return left.key.worker < right.key.worker }
      return (right.open, right.count, left.key) < (left.open, left.count, right.key)
    }
  }

  /// The reasons of the dead letters.
  var reasons: Set<String> { Set(byKey.keys.map(\.reason)) }

  /// The number of all dead letters.
  public var count: Int { byKey.values.reduce(0) { $0 + $1.count } }
  /// The number of unsettled dead letters.
  package var open: Int { byKey.values.reduce(0) { $0 + $1.open } }

  /// The counts as a sentence.
  package var summary: String { Self.summary(count, open: open) }

  /// The counts as a sentence.
  package static func summary(_ count: Int, open: Int) -> String {
    count == 0 ? "No dead letters." : "\(HumanText.count(count, "dead letter")), \(open) open."
  }

  /// A table followed by a sentence.
  package func lines(lineWidth: Int?, usesColor: Bool) -> [String] {
    let columns = [
      TextColumn("WORKER"), TextColumn("REASON"), TextColumn("APP"), TextColumn("AGE"),
      TextColumn("OPEN", alignment: .right), TextColumn("ALL", alignment: .right), TextColumn("OLDEST"),
      TextColumn("NEWEST"),
    ]
    let rows = groups.map { group in
      [
        TextCell(group.key.worker), TextCell(group.key.reason, .red), TextCell(group.key.app),
        TextCell(group.key.age?.text ?? "", .dim), TextCell("\(group.open)", group.open > 0 ? .yellow : .dim),
        TextCell("\(group.count)"), TextCell(RecordView.seconds(group.oldest), .dim),
        TextCell(RecordView.seconds(group.newest), .dim),
      ]
    }
    let table = TextTable.lines(columns, rows: rows, lineWidth: lineWidth, usesColor: usesColor)
    return table + (table.isEmpty ? [] : [""]) + [summary]
  }

  /// The groups as JSON lines, one object per group.
  package var jsonLines: [String] { groups.map { String(decoding: $0.json.serialized(), as: UTF8.self) } }
}

extension DeadLetterGroups.Group {
  /// The group as a JSON object.
  package var json: JSONObject {
    [
      "worker": .string(key.worker), "reason": .string(key.reason), "bundleId": .string(key.app),
      "age": .string(key.age?.rawValue ?? ""), "open": .integer(Int64(open)), "count": .integer(Int64(count)),
      "oldest": .string(oldest.rfc3339), "newest": .string(newest.rfc3339),
    ]
  }
}
