// One dead letter in a list, read from its headers. Values are not decoded, so a list of 100,000 stays fast. Pure.

public import AppStore
public import KafkaClient
internal import Millrace

/// A record that a worker gave up on.
public struct DeadLetterEntry: Sendable, Hashable {
  /// The dead letter's ID.
  public var id: DeadLetterID
  /// The reason, as a stable code.
  public var reason: String
  /// A description of the problem.
  public var detail: String
  /// The action to take.
  public var remedy: String
  /// The time at which the worker gave up.
  public var diedAt: Timestamp
  /// The causes of the failed attempts, oldest first.
  public var causes: [String]
  /// The position where the record was first read.
  public var first: RecordPosition
  /// The notification's ID, if the record has one.
  public var notificationID: String?
  /// The claimed type and subtype.
  public var type: String?
  /// The claimed app.
  public var bundleId: String?
  /// The claimed environment.
  public var environment: String?
  /// The result of the operator's commands: `open`, or a short text such as `sent again`.
  public var state = Self.open
  /// The operator of that command.
  public var by: String?
  /// The operator and the reason of the last failed command; nil if the letter is settled or no command failed.
  public var failure: String?

  /// The ``state`` of an unsettled dead letter.
  package static let open = "open"

  /// Whether the dead letter is unsettled.
  public var isOpen: Bool { state == Self.open }

  /// Reads a record's headers; nil if the record is not a dead letter.
  public init?(_ record: ConsumerRecord) {
    guard let letter = DeadLetter(record.headers) else { return nil }
    let (envelope, history) = (NotificationEnvelope(record), DeliveryHistory(record))
    id = DeadLetterID(lane: record.partition, offset: record.offset)
    (reason, detail, remedy, diedAt) = (letter.reason, letter.detail, letter.remedy, letter.at)
    (causes, first) = (history.causes, history.first)
    notificationID = envelope.id
    let name = envelope.notificationType
    type = envelope.subtype.map { "\(name ?? "")/\($0.rawValue)" } ?? name
    (bundleId, environment) = (envelope.bundleId, envelope.environment?.rawValue)
  }

  /// The columns of ``row``.
  static let columns = [
    TextColumn("DIED"), TextColumn("REASON"), TextColumn("TYPE"), TextColumn("APP"), TextColumn("STATE"),
    TextColumn("ID"), TextColumn("DETAIL"),
  ]

  var row: [TextCell] {
    [
      TextCell(RecordView.seconds(diedAt), .dim), TextCell(reason, .red), TextCell(type ?? ""),
      TextCell(bundleId ?? ""), TextCell(stateWords, isOpen ? .yellow : .dim),
      TextCell("\(id)", .cyan), TextCell(detail),
    ]
  }

  /// The ``state`` as text for people.
  var stateWords: String {
    if failure != nil { return "\(state), last command failed" }
    return by.map { "\(state) by \($0)" } ?? state
  }

  /// The entry as one line of JSON, without a line feed.
  public var jsonLine: String { String(decoding: JSON.object(json).serialized(), as: UTF8.self) }

  /// The entry as a JSON object; unknown values are omitted.
  public var json: JSONObject {
    var json: JSONObject = [
      "id": .string("\(id)"), "state": .string(state), "reason": .string(reason), "detail": .string(detail),
      "remedy": .string(remedy), "diedAt": .string(diedAt.rfc3339),
      "causes": .array(causes.map { .string($0) }), "topic": .string(first.topic),
      "partition": .integer(Int64(first.partition)), "offset": .integer(first.offset),
    ]
    json.set("by", by)
    json.set("failure", failure)
    json.set("notificationId", notificationID)
    json.set("type", type)
    json.set("bundleId", bundleId)
    json.set("environment", environment)
    return json
  }
}

/// Formats a list of dead letters.
public enum DeadLetterTable {
  /// A table followed by a sentence.
  public static func lines(_ entries: [DeadLetterEntry], lineWidth: Int?, usesColor: Bool) -> [String] {
    let table = rows(entries, lineWidth: lineWidth, usesColor: usesColor)
    return table + (table.isEmpty ? [] : [""]) + [summary(entries)]
  }

  /// The table without the sentence.
  public static func rows(_ entries: [DeadLetterEntry], lineWidth: Int?, usesColor: Bool) -> [String] {
    TextTable.lines(DeadLetterEntry.columns, rows: entries.map(\.row), lineWidth: lineWidth, usesColor: usesColor)
  }

  /// The counts as a sentence.
  public static func summary(_ entries: [DeadLetterEntry]) -> String {
    guard !entries.isEmpty else { return "No dead letters." }
    let open = entries.count { $0.isOpen }
    return "\(HumanText.count(entries.count, "dead letter")), \(open) open."
  }
}
