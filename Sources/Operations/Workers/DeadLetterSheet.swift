// One dead letter in detail, with the command that requeues it. Payloads are personal data and are shown only on
// request. Pure.

package import AppStore
internal import KafkaClient
internal import MillraceRecords

/// The details of one dead letter.
package struct DeadLetterSheet: Sendable, Hashable {
  /// The worker that gave up on the record.
  package var worker: String
  /// The data from its headers.
  package var entry: DeadLetterEntry
  /// The decoded, unverified record.
  package var view: RecordView
  /// The number of counted attempts since the record was last sent.
  package var attempts: Int
  /// The run that replayed or requeued the record before it failed, and its reason; nil for an original record.
  package var sentBy: String?
  /// The operator's reason for settling it.
  package var why: String?
  /// Whether it contains a copy of the record. Otherwise a requeue reads the record at its original position.
  package var hasCopy: Bool

  init(worker: String, entry: DeadLetterEntry, record: ConsumerRecord, why: String?) {
    (self.worker, self.entry, self.why) = (worker, entry, why)
    view = RecordView(record)
    let history = DeliveryHistory(record)
    attempts = history.attempt
    sentBy = history.replay.map { replay in
      [replay.mode.rawValue, replay.id, replay.why].compactMap { $0 }.joined(separator: " ")
    }
    hasCopy = record.value != nil
  }

  /// The command that requeues it.
  package var wayBack: String {
    if !entry.isOpen { return "none: it is already \(entry.state)" }
    return "millrace dead-letters requeue \(entry.id) --worker \(worker) --why …"
  }

  /// The details for a terminal.
  package func lines(withPayload: Bool, usesColor: Bool) -> [String] {
    var sheet = FactSheet()
    sheet.add("dead letter", "\(entry.id) of \(worker)", .cyan)
    sheet.add("state", entry.stateWords, entry.isOpen ? .yellow : .dim)
    sheet.add("last failure", entry.failure, .red)
    sheet.add("why", why)
    sheet.add("died", entry.diedAt.rfc3339)
    sheet.add("reason", entry.reason, .red)
    sheet.add("what", entry.detail)
    sheet.add("remedy", entry.remedy)
    sheet.add("requeue with", wayBack, .green)
    sheet.beginGroup()
    sheet.add("first read from", "\(entry.first)")
    if !hasCopy { sheet.add("copy", "none: a requeue reads the record at its original position", .yellow) }
    sheet.add("attempts", "\(attempts)")
    sheet.add("sent by", sentBy)
    for (number, cause) in entry.causes.enumerated() { sheet.add("cause \(number + 1)", cause) }
    sheet.beginGroup()
    sheet.add("notification", entry.notificationID)
    sheet.add("type", entry.type)
    sheet.add("app", entry.bundleId)
    sheet.add("environment", entry.environment)
    sheet.add("signed", view.signedDate?.rfc3339)
    sheet.add("product", view.productId)
    sheet.add("size", HumanText.size(view.size))
    for problem in view.problems { sheet.add("odd", problem, .yellow) }
    guard withPayload else { return sheet.lines(usesColor: usesColor) + ["", "--payload shows what Apple signed."] }
    sheet.beginGroup()
    sheet.add("key", view.key)
    sheet.add("original transaction", view.originalTransactionId)
    sheet.add("transaction", view.transactionId)
    let parts = [
      ("payload", view.payload), ("transaction info", view.transaction), ("renewal info", view.renewalInfo),
      ("app transaction", view.appTransaction),
    ]
    for (name, part) in parts {
      sheet.add(name, part.map { String(decoding: JSON.object($0).serialized(), as: UTF8.self) })
    }
    return sheet.lines(usesColor: usesColor)
  }

  /// The details as one line of JSON, without a line feed.
  package func jsonLine(withPayload: Bool) -> String {
    String(decoding: JSON.object(json(withPayload: withPayload)).serialized(), as: UTF8.self)
  }

  /// The details as a JSON object. Without the payload, it contains no data that identifies a purchase.
  package func json(withPayload: Bool) -> JSONObject {
    var json = entry.json
    json["worker"] = .string(worker)
    json["attempts"] = .integer(Int64(attempts))
    json.set("sentBy", sentBy)
    json.set("why", why)
    json["wayBack"] = .string(wayBack)
    json["record"] = .object(withPayload ? view.json : view.jsonWithoutPayload)
    return json
  }
}
