// A record of any topic for display, without verification. Other programs may have written the record, so every field
// is optional and problems are listed instead of thrown.

package import AppStore
package import KafkaClient
internal import MillraceRecords

/// The displayable fields of a record.
package struct RecordView: Sendable, Hashable {
  /// The kind of a record.
  package enum Content: String, Sendable, Hashable {
    /// A version 2 notification.
    case v2
    /// A version 1 notification.
    case v1
    /// An event of a worker.
    case event
    /// Another JSON object: a row of a table, a decoded record, or a record of the audit trail.
    case json
    /// A record without a value.
    case tombstone
    /// A record that Millrace did not write.
    case foreign
  }

  /// The kind of the record.
  package var content: Content
  /// The record's topic.
  package var topic: String
  /// The record's partition.
  package var partition: Int32
  /// The record's offset.
  package var offset: Int64
  /// The record's timestamp.
  package var writtenAt: Timestamp?
  /// The key as text; nil if there is none or if it is not UTF-8.
  package var key: String?
  /// The size of the value in bytes.
  package var size: Int
  /// `ce_id`.
  package var id: String?
  /// The notification type as Apple wrote it.
  package var type: String?
  /// The subtype as Apple wrote it.
  package var subtype: String?
  /// The subject (`ce_subject`), which is the record's key.
  package var subject: String?
  /// The environment as Apple wrote it.
  package var environment: String?
  /// The app's bundle ID.
  package var bundleId: String?
  /// The time at which Apple signed it; for version 1, the time of receipt.
  package var signedDate: Timestamp?
  /// The origin: `post`, `history` or `replay`.
  package var origin: String?
  /// The reason for the ingress's refusal; nil outside the quarantine.
  package var refusal: String?
  /// The worker that published the event, or to which the delayed record or the dead letter belongs.
  package var worker: String?
  /// The number of attempts so far; nil outside a worker's own topics.
  package var attempts: Int?
  /// The time when a delayed record is due.
  package var due: Timestamp?
  /// The newest cause of a delay, or the reason of a dead letter.
  package var reason: String?
  /// The state in a row of a table, or the result in the audit trail.
  package var status: String?
  /// The product.
  package var productId: String?
  /// The transaction.
  package var transactionId: String?
  /// The first transaction of the purchase.
  package var originalTransactionId: String?
  /// The price in thousandths of ``currency``.
  package var price: Int64?
  /// The ISO 4217 currency code.
  package var currency: String?
  /// The payload, without nested tokens and receipts.
  package var payload: JSONObject?
  /// The payload of the nested signed transaction.
  package var transaction: JSONObject?
  /// The payload of the nested signed renewal info.
  package var renewalInfo: JSONObject?
  /// The payload of the nested signed app transaction.
  package var appTransaction: JSONObject?
  /// The value of a foreign record: text, or its first bytes in hexadecimal.
  package var text: String?
  /// The problems found in the record.
  package var problems: [String] = []

  /// Decodes a record.
  package init(_ record: ConsumerRecord) {
    topic = record.topic
    partition = record.partition
    offset = record.offset
    writtenAt = record.timestamp.map { Timestamp(millisecondsSince1970: $0) }
    key = record.key.flatMap { String(validating: $0, as: UTF8.self) }
    size = record.value?.count ?? 0
    content = .foreign
    if let quarantined = QuarantineRecord(record) {
      readQuarantined(quarantined, record)
    } else {
      readHeaders(record)
      readValue(record.value)
      readHistory(record)
      if type == nil, let name = record.text("ce_type"), name.hasPrefix(Self.typePrefix) {
        type = String(name.dropFirst(Self.typePrefix.count))
      }
      if record.topic.hasSuffix(AuditRecord.topic), let audit = AuditRecord(record) { fill(from: audit) }
    }
    if record.key != nil, key == nil { problems.append("the key is not UTF-8") }
  }

  private mutating func readHeaders(_ record: ConsumerRecord) {
    guard record.headers.contains(where: { $0.name.hasPrefix("ce_") }) else { return }
    let envelope = NotificationEnvelope(record)
    if envelope.version == nil, let name = record.text("ce_type"), name.hasPrefix(Self.typePrefix) {
      (id, subject, signedDate) = (envelope.id, envelope.subject, envelope.time)
      if let source = record.text("ce_source"), source.hasPrefix("millrace/") {
        // `dev.millrace.refunds.entitlement.revoked` is an event of the worker `refunds`.
        let worker = String(source.dropFirst("millrace/".count))
        let start = Self.typePrefix + worker + "."
        if name.hasPrefix(start) {
          (content, self.worker, type) = (.event, worker, String(name.dropFirst(start.count)))
        }
      }
      return
    }
    id = envelope.id
    type = envelope.notificationType
    subtype = envelope.subtype?.rawValue
    subject = envelope.subject
    environment = envelope.environment?.rawValue
    bundleId = envelope.bundleId
    signedDate = envelope.time
    origin = envelope.origin?.rawValue
    problems += envelope.problems.map(\.description)
  }

  private static let typePrefix = "dev.millrace."

  /// Reads the delivery history, which only a worker's own topics have.
  private mutating func readHistory(_ record: ConsumerRecord) {
    guard let own = WorkerTopics.owner(of: record.topic) else { return }
    let history = DeliveryHistory(record)
    (worker, attempts, due) = (own, history.attempt, history.due)
    reason = DeadLetter(record.headers).map { "\($0.reason): \($0.detail)" } ?? history.causes.last
  }

  private mutating func fill(from audit: AuditRecord) {
    type = audit.action.rawValue
    switch audit.phase {
    case .started: status = "started by \(audit.by)"
    case .ended(_, let result, _): status = [result.rawValue, result.detail].compactMap(\.self).joined(separator: ": ")
    }
  }

  private mutating func readQuarantined(_ quarantined: QuarantineRecord, _ record: ConsumerRecord) {
    id = quarantined.id
    refusal = quarantined.reason?.rawValue ?? "reason unknown"
    readValue(quarantined.value)
  }

  private mutating func readValue(_ value: [UInt8]?) {
    guard let value else {
      content = .tombstone
      return
    }
    switch RecordPayload(value) {
    case .v2(let payload, let inner):
      content = .v2
      fill(from: payload, inner)
    case .v1(let body):
      content = .v1
      fill(from: body)
    case .object(let object):
      if content == .foreign { content = .json }
      fill(from: object)
    case .foreign(let why):
      problems.append(why)
      text = Self.excerpt(value)
    }
  }

  /// A value that is text; for binary values, their first bytes in hexadecimal.
  private static func excerpt(_ value: [UInt8]) -> String? {
    guard !value.isEmpty else { return nil }
    if let text = String(validating: value, as: UTF8.self) { return text }
    let bytes = value.prefix(24).map { byte in
      String(byte, radix: 16).count == 1 ? "0" + String(byte, radix: 16) : String(byte, radix: 16)
    }
    return bytes.joined(separator: " ") + (value.count > 24 ? " …" : "")
  }
}

extension RecordView {
  /// The record without its payload. Ids, the product and the price remain.
  package var withoutPayload: RecordView {
    var view = self
    (view.payload, view.transaction, view.renewalInfo, view.appTransaction, view.text) = (nil, nil, nil, nil, nil)
    return view
  }
}
