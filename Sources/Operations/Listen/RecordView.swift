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
  /// The truncated value of a foreign record, if it is text.
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
    }
    if record.key != nil, key == nil { problems.append("the key is not UTF-8") }
  }

  private mutating func readHeaders(_ record: ConsumerRecord) {
    guard record.headers.contains(where: { $0.name.hasPrefix("ce_") }) else {
      if record.value != nil { problems.append("no CloudEvents headers") }
      return
    }
    let envelope = NotificationEnvelope(record)
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
    case .foreign(let why):
      problems.append(why)
      text = Self.excerpt(value)
    }
  }

  /// The part of a value that fits on a terminal line; for binary values, its first bytes in hexadecimal.
  private static func excerpt(_ value: [UInt8]) -> String? {
    guard !value.isEmpty else { return nil }
    if let text = String(validating: value, as: UTF8.self) {
      let start = text.prefix(120)
      return start.endIndex == text.endIndex ? text : start + "…"
    }
    let bytes = value.prefix(24).map { byte in
      String(byte, radix: 16).count == 1 ? "0" + String(byte, radix: 16) : String(byte, radix: 16)
    }
    return bytes.joined(separator: " ") + (value.count > 24 ? " …" : "")
  }
}
