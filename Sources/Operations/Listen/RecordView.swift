// A record of any topic as a person wants to see it. Nothing here is verified: it shows what is in the topic. Records
// are data of others, so everything is optional and what is odd is said, never fatal.

public import AppStore
public import Kafka
internal import Millrace

/// What can be told of a record.
public struct RecordView: Sendable, Hashable {
  /// What kind of record it is.
  public enum Content: String, Sendable, Hashable {
    /// A version 2 notification.
    case v2
    /// A version 1 notification.
    case v1
    /// A record without a value.
    case tombstone
    /// Something that no Millrace process writes.
    case foreign
  }

  /// What kind of record it is.
  public var content: Content
  /// Where it is.
  public var topic: String
  /// Where it is.
  public var partition: Int32
  /// Where it is.
  public var offset: Int64
  /// When it was written.
  public var writtenAt: Timestamp?
  /// The key as text; nil where there is none or it is no UTF-8.
  public var key: String?
  /// The size of the value in bytes.
  public var size: Int
  /// `ce_id`.
  public var id: String?
  /// The notification type as Apple wrote it.
  public var type: String?
  /// The subtype as Apple wrote it.
  public var subtype: String?
  /// What orders it.
  public var subject: String?
  /// The environment as Apple wrote it.
  public var environment: String?
  /// The app.
  public var bundleId: String?
  /// When Apple signed it; for version 1, when it was received.
  public var signedDate: Timestamp?
  /// How it came.
  public var origin: String?
  /// Why the ingress refused it; nil for everything outside the quarantine.
  public var refusal: String?
  /// What was bought.
  public var productId: String?
  /// The transaction.
  public var transactionId: String?
  /// The first transaction of the purchase.
  public var originalTransactionId: String?
  /// In thousandths of ``currency``.
  public var price: Int64?
  /// ISO 4217.
  public var currency: String?
  /// The payload, without the tokens and receipts inside it.
  public var payload: JSONObject?
  /// The payload of the signed transaction inside.
  public var transaction: JSONObject?
  /// The payload of the signed renewal info inside.
  public var renewalInfo: JSONObject?
  /// The payload of the signed app transaction inside.
  public var appTransaction: JSONObject?
  /// The value of a foreign record as far as it is text; cut.
  public var text: String?
  /// What is odd about it, in a few words each.
  public var problems: [String] = []

  /// Looks at a record.
  public init(_ record: ConsumerRecord) {
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

  /// What fits on a line of a terminal; for bytes that are no text, the first of them in hexadecimal.
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
