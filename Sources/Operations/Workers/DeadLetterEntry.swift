// One dead letter as a list shows it, from its headers alone: nothing is decoded to list a hundred thousand. Pure.

public import AppStore
public import Kafka
internal import Millrace

/// A record that a worker gave up.
public struct DeadLetterEntry: Sendable, Hashable {
  /// What to call it.
  public var id: DeadLetterID
  /// Why, as a stable code.
  public var reason: String
  /// What happened.
  public var detail: String
  /// What to do now.
  public var remedy: String
  /// When it died.
  public var diedAt: Timestamp
  /// What happened before, oldest first.
  public var causes: [String]
  /// Where the record was first read.
  public var first: RecordPosition
  /// The notification's id, where it says one.
  public var notificationID: String?
  /// The type and subtype it claims.
  public var type: String?
  /// The app it claims to be for.
  public var bundleId: String?
  /// The environment it claims.
  public var environment: String?
  /// What was done about it: `open`, or the word for what stands.
  public var state = Self.open
  /// Who did it.
  public var by: String?
  /// Whose command could not be carried out last, and why; nil where it is settled, or nobody has tried.
  public var failure: String?

  /// ``state`` of one that nobody has settled.
  package static let open = "open"

  /// Whether nobody has settled it.
  public var isOpen: Bool { state == Self.open }

  /// Looks at a record's headers; nil where it is no dead letter.
  public init?(_ record: ConsumerRecord) {
    guard let letter = DeadLetter(record.headers) else { return nil }
    let (envelope, history) = (NotificationEnvelope(record), Provenance(record))
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

  /// ``state`` for a person.
  var stateWords: String {
    if failure != nil { return "\(state), a try failed" }
    return by.map { "\(state) by \($0)" } ?? state
  }

  /// One object for a script, without a line feed.
  public var jsonLine: String { String(decoding: JSON.object(json).serialized(), as: UTF8.self) }

  /// The entry as a JSON object; what is not known is left out.
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

/// Shows dead letters one by one.
public enum DeadLetterTable {
  /// A table with a sentence below.
  public static func lines(_ entries: [DeadLetterEntry], lineWidth: Int?, usesColor: Bool) -> [String] {
    let table = rows(entries, lineWidth: lineWidth, usesColor: usesColor)
    return table + (table.isEmpty ? [] : [""]) + [summary(entries)]
  }

  /// The table alone.
  public static func rows(_ entries: [DeadLetterEntry], lineWidth: Int?, usesColor: Bool) -> [String] {
    TextTable.lines(DeadLetterEntry.columns, rows: entries.map(\.row), lineWidth: lineWidth, usesColor: usesColor)
  }

  /// The list in a sentence.
  public static func summary(_ entries: [DeadLetterEntry]) -> String {
    guard !entries.isEmpty else { return "No dead letters." }
    let open = entries.count { $0.isOpen }
    return "\(HumanText.count(entries.count, "dead letter")), \(open) open."
  }
}
