// One dead letter in detail, with the command that requeues it. Payloads are personal data and are shown only on
// request. Pure.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

extension DeadLetterEntry {
  /// The command that requeues it.
  package var wayBack: String {
    if !isOpen { return "none: it is already \(state)" }
    return "millrace dead-letters requeue \(id) --worker \(key.worker) --why …"
  }

  /// The details for a terminal.
  /// - Parameter view: The decoded, unverified record.
  package func lines(of view: RecordView, withPayload: Bool, usesColor: Bool) -> [String] {
    var sheet = FactSheet()
    sheet.add("dead letter", "\(id) of \(key.worker)", .cyan)
    sheet.add("state", stateWords, isOpen ? .yellow : .dim)
    sheet.add("last failure", failure, .red)
    sheet.add("why", why)
    sheet.add("died", diedAt.rfc3339)
    sheet.add("reason", reason, .red)
    sheet.add("what", detail)
    sheet.add("answer", answer)
    sheet.add("remedy", remedy)
    sheet.add("requeue with", wayBack, .green)
    sheet.beginGroup()
    sheet.add("first read from", "\(first)")
    if !hasCopy { sheet.add("copy", "none: a requeue reads the record at its original position", .yellow) }
    sheet.add("attempts", "\(attempts)")
    sheet.add("sent by", sentBy)
    for (number, cause) in causes.enumerated() { sheet.add("cause \(number + 1)", cause) }
    sheet.beginGroup()
    sheet.add("notification", notificationID)
    sheet.add("type", type)
    sheet.add("app", bundleId)
    sheet.add("environment", environment)
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
  /// Without the payload, it contains no data that identifies a purchase.
  package func jsonLine(of view: RecordView, withPayload: Bool) -> String {
    var json = self.json
    json["worker"] = .string(key.worker)
    json["attempts"] = .integer(Int64(attempts))
    json.set("answer", answer)
    json.set("sentBy", sentBy)
    json.set("why", why)
    json["wayBack"] = .string(wayBack)
    json["record"] = .object(withPayload ? view.json : view.jsonWithoutPayload)
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}
