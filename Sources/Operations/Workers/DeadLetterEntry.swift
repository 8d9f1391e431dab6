// One dead letter in a list, read from its headers. Values are not decoded, so a list of 100,000 stays fast. Pure.

package import AppStore
package import KafkaClient
internal import MillraceRecords

/// A record that a worker gave up on.
public struct DeadLetterEntry: Sendable, Hashable {
  /// The dead letter's ID.
  package var id: DeadLetterID
  /// The reason, as a stable code.
  package var reason: String
  /// A description of the problem.
  package var detail: String
  /// The action to take.
  package var remedy: String
  /// The time at which the worker gave up.
  package var diedAt: Timestamp
  /// The causes of the failed attempts, oldest first.
  package var causes: [String]
  /// The position where the record was first read.
  package var first: RecordPosition
  /// The notification's ID, if the record has one.
  package var notificationID: String?
  /// The claimed type and subtype.
  package var type: String?
  /// The claimed app.
  package var bundleId: String?
  /// The claimed environment.
  package var environment: String?
  /// The result of the operator's commands: `open`, or a short text such as `sent again`.
  package var state = Self.open
  /// The operator of that command.
  package var by: String?
  /// The operator and the reason of the last failed command; nil if the letter is settled or no command failed.
  package var failure: String?

  /// The ``state`` of an unsettled dead letter.
  package static let open = "open"

  /// Whether the dead letter is unsettled.
  package var isOpen: Bool { state == Self.open }

  /// Reads a record's headers; nil if the record is not a dead letter.
  package init?(_ record: ConsumerRecord) {
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
  package var jsonLine: String { String(decoding: JSON.object(json).serialized(), as: UTF8.self) }

  /// The entry as a JSON object; unknown values are omitted.
  package var json: JSONObject {
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
package enum DeadLetterTable {
  /// A table followed by a sentence.
  package static func lines(_ entries: [DeadLetterEntry], lineWidth: Int?, usesColor: Bool) -> [String] {
    let table = rows(entries, lineWidth: lineWidth, usesColor: usesColor)
    return table + (table.isEmpty ? [] : [""]) + [summary(entries)]
  }

  /// The table without the sentence.
  package static func rows(_ entries: [DeadLetterEntry], lineWidth: Int?, usesColor: Bool) -> [String] {
    TextTable.lines(DeadLetterEntry.columns, rows: entries.map(\.row), lineWidth: lineWidth, usesColor: usesColor)
  }

  /// The counts as a sentence.
  package static func summary(_ entries: [DeadLetterEntry]) -> String {
    guard !entries.isEmpty else { return "No dead letters." }
    let open = entries.count { $0.isOpen }
    return "\(HumanText.count(entries.count, "dead letter")), \(open) open."
  }
}
