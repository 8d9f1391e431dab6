// One dead letter, read from its headers, as the command line, the console and scripts see it. Values are not decoded, so
// a list of 100,000 stays fast. Pure.

package import AppStore
package import KafkaClient
internal import MillraceRecords
package import MillraceWorker

/// A record that a worker gave up on.
public struct DeadLetterEntry: Sendable, Hashable {
  /// The worker that gave up, and the dead letter's ID.
  package var key: DeadLetterKey
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
  /// The excerpt of the receiver's last answer; nil if there is none.
  package var answer: String?
  /// The number of counted attempts since the record was last sent.
  package var attempts: Int
  /// The run that replayed or requeued the record before it failed, and its reason; nil for an original record.
  package var sentBy: String?
  /// The position where the record was first read.
  package var first: RecordPosition
  /// Whether it contains a copy of the record. Otherwise a requeue reads the record at its original position.
  package var hasCopy: Bool
  /// The notification's ID, if the record has one.
  package var notificationID: String?
  /// The claimed type and subtype.
  package var type: String?
  /// The claimed app.
  package var bundleId: String?
  /// The claimed environment.
  package var environment: String?
  /// The key of the record: usually the first transaction of its purchase.
  package var subject: String?
  /// The result of the operator's commands: `open`, or a short text such as `sent again`.
  package var state = Self.open
  /// The operator of that command.
  package var by: String?
  /// The operator and the reason of the last failed command; nil if the letter is settled or no command failed.
  package var failure: String?
  /// The reason of that command.
  package var why: String?

  /// The ``state`` of an unsettled dead letter.
  package static let open = "open"

  /// Whether the dead letter is unsettled.
  package var isOpen: Bool { state == Self.open }

  /// The dead letter's ID.
  package var id: DeadLetterID { key.id }

  /// Reads a record's headers; nil if the record is not a dead letter.
  /// - Parameters:
  ///   - worker: The worker whose dead letter it is.
  ///   - status: The status of the operators' commands.
  package init?(_ record: ConsumerRecord, of worker: String, status: OperationsLog.Status? = nil) {
    guard let letter = DeadLetter(record.headers) else { return nil }
    let (envelope, history) = (NotificationEnvelope(record), DeliveryHistory(record))
    key = DeadLetterKey(worker: worker, id: DeadLetterID(lane: record.partition, offset: record.offset))
    (reason, detail, remedy, diedAt) = (letter.reason, letter.detail, letter.remedy, letter.at)
    (causes, attempts, first, hasCopy) = (history.causes, history.attempt, history.first, record.value != nil)
    answer = history.lastAnswer
    sentBy = history.replay.map { replay in
      [replay.mode.rawValue, replay.id, replay.why].compactMap(\.self).joined(separator: " ")
    }
    notificationID = envelope.id
    let name = envelope.notificationType
    type = envelope.subtype.map { "\(name ?? "")/\($0.rawValue)" } ?? name
    (bundleId, environment) = (envelope.bundleId, envelope.environment?.rawValue)
    subject = envelope.subject ?? record.key.flatMap { String(validating: $0, as: UTF8.self) }
    settle(status)
  }

  /// Sets the state that the operators' commands give it.
  package mutating func settle(_ status: OperationsLog.Status?) {
    guard let status else { return }
    why = status.command.why
    if let failure = status.failure {
      let verb = if case .discard = status.command.action { "discard" } else { "requeue" }
      (state, by, self.failure) = (Self.open, nil, "\(status.command.by)'s \(verb) failed: \(failure)")
    } else {
      (state, by, failure) = (status.words, status.command.by, nil)
    }
  }

  /// The columns of ``row``.
  private static let columns = [
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

  /// A table.
  package static func lines(_ letters: [DeadLetterEntry], lineWidth: Int?, usesColor: Bool) -> [String] {
    TextTable.lines(columns, rows: letters.map(\.row), lineWidth: lineWidth, usesColor: usesColor)
  }
}
