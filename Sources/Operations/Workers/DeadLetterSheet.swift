// One dead letter in detail: what it is, what happened to it, the way back. Payloads are personal data: they are shown
// where they are asked for. Pure.

public import AppStore
internal import Kafka
internal import Millrace

/// All that is known of one dead letter.
public struct DeadLetterSheet: Sendable, Hashable {
  /// The worker that gave it up.
  public var worker: String
  /// What its headers say.
  public var entry: DeadLetterEntry
  /// The record, decoded and not verified.
  public var view: RecordView
  /// Runs of its handler that count as attempts, since it was last sent.
  public var attempts: Int
  /// The run that sent it again before it died, and why; nil: it came by itself.
  public var sentBy: String?
  /// Why somebody did something about it.
  public var why: String?
  /// Whether a copy of the record is in it; where there is none, a requeue reads the record where it first stood.
  public var hasCopy: Bool

  init(worker: String, entry: DeadLetterEntry, record: ConsumerRecord, why: String?) {
    (self.worker, self.entry, self.why) = (worker, entry, why)
    view = RecordView(record)
    let history = Provenance(record)
    attempts = history.attempt
    sentBy = history.replay.map { replay in
      [replay.mode.rawValue, replay.id, replay.why].compactMap { $0 }.joined(separator: " ")
    }
    hasCopy = record.value != nil
  }

  /// What to type to have it tried again.
  public var wayBack: String {
    if !entry.isOpen { return "nothing: it is \(entry.state)" }
    return "millrace dead-letters requeue \(entry.id) --worker \(worker) --why …"
  }

  /// For a terminal.
  public func lines(withPayload: Bool, usesColor: Bool) -> [String] {
    var sheet = FactSheet()
    sheet.add("dead letter", "\(entry.id) of \(worker)", .cyan)
    sheet.add("state", entry.stateWords, entry.isOpen ? .yellow : .dim)
    sheet.add("last try", entry.failure, .red)
    sheet.add("why", why)
    sheet.add("died", entry.diedAt.rfc3339)
    sheet.add("reason", entry.reason, .red)
    sheet.add("what", entry.detail)
    sheet.add("remedy", entry.remedy)
    sheet.add("the way back", wayBack, .green)
    sheet.beginGroup()
    sheet.add("first read from", "\(entry.first)")
    if !hasCopy { sheet.add("copy", "none: a requeue reads the record where it was first read from", .yellow) }
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

  /// One line, without a line feed.
  public func jsonLine(withPayload: Bool) -> String {
    String(decoding: JSON.object(json(withPayload: withPayload)).serialized(), as: UTF8.self)
  }

  /// One object; without the payload nothing in it says whose purchase it is.
  public func json(withPayload: Bool) -> JSONObject {
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
