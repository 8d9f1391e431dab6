// An operator's selection of records, for replays, dead letters, runs and the audit trail. It is JSON in Kafka and
// flags on the command line; both conversions are lossless.

package import AppStore

/// A selection of records. An empty or nil property does not restrict the selection.
public struct RecordSelection: Sendable, Hashable {
  /// Topics by their names in Kafka.
  public var topics: [String] = []
  /// The earliest time of writing.
  package var since: Timestamp?
  /// The time before which records were written.
  package var until: Timestamp?
  /// Partitions.
  package var partitions: [Int32] = []
  /// The first offset; only useful with one topic and one partition.
  package var from: Int64?
  /// The offset after the last.
  package var to: Int64?
  /// Record keys.
  package var keys: [String] = []
  /// Transactions by `transactionId` or `originalTransactionId`. Only this condition decodes payloads, and only of
  /// records that meet all others.
  package var transactions: [String] = []
  /// Notification types as Apple spells them.
  public var types: [String] = []
  /// Subtypes as Apple spells them.
  package var subtypes: [String] = []
  /// Apps by bundle id.
  package var apps: [String] = []
  /// Environments as Apple spells them.
  package var environments: [String] = []
  /// Reasons of dead letters; selects only dead letters.
  package var reasons: [String] = []

  /// Creates a selection of all records.
  public init() {}

  // One row per list, which JSON, flags and parsing share.
  private static var lists: [(name: String, flag: String, path: WritableKeyPath<RecordSelection, [String]>)] {
    [
      ("topics", "--topic", \.topics), ("keys", "--key", \.keys), ("transactions", "--transaction", \.transactions),
      ("types", "--type", \.types), ("subtypes", "--subtype", \.subtypes), ("apps", "--app", \.apps),
      ("environments", "--environment", \.environments), ("reasons", "--reason", \.reasons),
    ]
  }
  private static var offsets: [(name: String, path: WritableKeyPath<RecordSelection, Int64?>)] {
    [("from", \.from), ("to", \.to)]
  }
  private static var times: [(name: String, path: WritableKeyPath<RecordSelection, Timestamp?>)] {
    [("since", \.since), ("until", \.until)]
  }

  /// The selection as a JSON object, without empty properties.
  package var json: JSONObject {
    var json = JSONObject()
    for list in Self.lists where !self[keyPath: list.path].isEmpty {
      json[list.name] = .array(self[keyPath: list.path].map { .string($0) })
    }
    for time in Self.times { json[time.name] = self[keyPath: time.path].map { .string($0.rfc3339) } }
    if !partitions.isEmpty { json["partitions"] = .array(partitions.map { .integer(Int64($0)) }) }
    for offset in Self.offsets { json[offset.name] = self[keyPath: offset.path].map { .integer($0) } }
    return json
  }

  /// Parses a JSON object; nil if this version does not know one of its members. Ignoring a condition would select too
  /// many records.
  package init?(_ json: JSONObject) {
    for member in json.members {
      if let list = Self.lists.first(where: { $0.name == member.key }), case .array(let values) = member.value {
        for value in values {
          guard case .string(let text) = value else { return nil }
          self[keyPath: list.path].append(text)
        }
      } else if let time = Self.times.first(where: { $0.name == member.key }), case .string(let text) = member.value,
        let moment = Timestamp(rfc3339: text)
      {
        self[keyPath: time.path] = moment
      } else if let offset = Self.offsets.first(where: { $0.name == member.key }),
        case .integer(let number) = member.value
      {
        self[keyPath: offset.path] = number
      } else if member.key == "partitions", case .array(let values) = member.value {
        for value in values {
          guard case .integer(let number) = value, let partition = Int32(exactly: number) else { return nil }
          partitions.append(partition)
        }
      } else {
        return nil
      }
    }
  }

  /// The command-line arguments of the selection; flags and values are separate arguments.
  package var arguments: [String] {
    var arguments: [String] = []
    for list in Self.lists { for value in self[keyPath: list.path] { arguments += [list.flag, value] } }
    for partition in partitions { arguments += ["--partition", String(partition)] }
    for offset in Self.offsets {
      if let value = self[keyPath: offset.path] { arguments += ["--\(offset.name)", String(value)] }
    }
    for time in Self.times {
      if let value = self[keyPath: time.path] { arguments += ["--\(time.name)", value.rfc3339] }
    }
    return arguments
  }
}

extension RecordSelection: CustomStringConvertible {
  /// The selection as shell arguments.
  public var description: String {
    arguments.map { word in
      let isPlain = word.utf8.allSatisfy { byte in
        (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
          || [45, 46, 47, 58, 95].contains(byte)
      }
      return isPlain && !word.isEmpty ? word : "'" + word.replacing("'", with: "'\\''") + "'"
    }.joined(separator: " ")
  }
}
