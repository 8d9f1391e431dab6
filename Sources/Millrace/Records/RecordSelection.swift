// Which records an operator means: one value for replay, dead letters, runs and the audit trail. Written as JSON in Kafka
// and as flags for people; both come back as they were.

public import AppStore

/// A choice of records. What is empty or nil chooses everything.
public struct RecordSelection: Sendable, Hashable {
  /// Topics by their names in Kafka.
  public var topics: [String] = []
  /// Written then or later.
  public var since: Timestamp?
  /// Written before.
  public var until: Timestamp?
  /// Partitions.
  public var partitions: [Int32] = []
  /// The first offset; makes sense with one topic and one partition alone.
  public var from: Int64?
  /// The offset behind the last.
  public var to: Int64?
  /// Record keys.
  public var keys: [String] = []
  /// Transactions by `transactionId` or `originalTransactionId`. The only choice for which payloads are decoded, and then
  /// only those of records that everything else chose.
  public var transactions: [String] = []
  /// Notification types as Apple writes them.
  public var types: [String] = []
  /// Subtypes as Apple writes them.
  public var subtypes: [String] = []
  /// Apps by bundle id.
  public var apps: [String] = []
  /// Environments as Apple writes them.
  public var environments: [String] = []
  /// Why a dead letter died; chooses dead letters alone.
  public var reasons: [String] = []

  /// Everything.
  public init() {}

  /// Whether it chooses by more than the place of a record.
  public var looksAtRecords: Bool {
    var places = RecordSelection()
    (places.topics, places.partitions, places.from, places.to) = (topics, partitions, from, to)
    return self != places
  }

  // One row for each list, so that JSON, flags and reading know the same names.
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

  /// The selection as a JSON object; what chooses everything is left out.
  public var json: JSONObject {
    var json = JSONObject()
    for list in Self.lists where !self[keyPath: list.path].isEmpty {
      json[list.name] = .array(self[keyPath: list.path].map { .string($0) })
    }
    for time in Self.times { json[time.name] = self[keyPath: time.path].map { .string($0.rfc3339) } }
    if !partitions.isEmpty { json["partitions"] = .array(partitions.map { .integer(Int64($0)) }) }
    for offset in Self.offsets { json[offset.name] = self[keyPath: offset.path].map { .integer($0) } }
    return json
  }

  /// Reads such an object; nil for one that says anything this version does not know. A choice that is ignored would
  /// choose too much.
  public init?(_ json: JSONObject) {
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

  /// The flags that say it on a command line, values in words of their own.
  public var arguments: [String] {
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
  /// What a person types into a shell to choose the same.
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
