// The state that the check reads first: the known refunds, and the revision up to which each customer was read.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords

/// The refunds in the table of entitlements.
struct KnownRefunds: Sendable {
  private let dates: [String: String]

  init(dates: [String: String]) { self.dates = dates }

  /// Whether the table has this refund of the transaction. If the table has another state or none, the worker decides.
  func contains(_ transaction: JWSTransactionDecodedPayload) -> Bool {
    guard let id = transaction.transactionId, let date = transaction.revocationDate else { return false }
    return dates[id] == date.rfc3339
  }

  static func load(from log: any RecordLog, prefix: String) async throws -> KnownRefunds {
    let dates = try await Tables.texts(in: prefix + RefundsWorker.entitlementsTopic, of: log) { row in
      if case .object(let revocation)? = row["revocation"] { revocation["date"]?.text } else { nil }
    }
    return KnownRefunds(dates: dates)
  }
}

/// The revision up to which each customer was read.
struct RefundMarks: Sendable {
  /// The topic of the revisions, without the deployment's prefix.
  static let topic = "millrace.refund-checks"

  private let revisions: [String: String]

  func revision(of customer: RefundCustomer) -> String? { revisions[Self.key(customer)] }

  static func load(from log: any RecordLog, prefix: String) async throws -> RefundMarks {
    RefundMarks(revisions: try await Tables.texts(in: prefix + topic, of: log) { $0["revision"]?.text })
  }

  /// Returns the record that stores a revision.
  static func record(_ revision: String, of customer: RefundCustomer, at time: Timestamp, prefix: String)
    -> ProducerRecord
  {
    let value: JSONObject = ["revision": .string(revision), "checkedAt": .string(time.rfc3339)]
    return ProducerRecord(
      topic: prefix + topic, key: Array(key(customer).utf8), value: value.serialized(),
      headers: [RecordHeader("content-type", "application/json")])
  }

  private static func key(_ customer: RefundCustomer) -> String {
    "\(customer.bundleId)/\(customer.environment?.rawValue ?? "any")/\(customer.name)"
  }
}

/// Reads compacted topics of JSON.
private enum Tables {
  private static let timeout = Duration.seconds(15)
  private static let pageSize = 5_000

  /// Returns a text of each row, by key. Rows that were deleted, have no such text or are not JSON objects have none.
  static func texts(
    in topic: String, of log: any RecordLog, _ text: @Sendable (JSONObject) -> String?
  ) async throws -> [String: String] {
    let count = try await log.partitionCounts(of: [topic], timeout: timeout)[topic] ?? 0
    var texts: [String: String] = [:]
    for partition in 0..<Int32(clamping: count) {
      texts = try await log.fold(TopicPartition(topic: topic, partition: partition), upTo: pageSize, into: texts) {
        texts, page in
        for record in page {
          texts[String(decoding: record.key ?? [], as: UTF8.self)] = object(record.value).flatMap(text)
        }
      }
    }
    return texts
  }

  private static func object(_ value: [UInt8]?) -> JSONObject? {
    guard let value else { return nil }
    // Only Millrace writes here. An unreadable value counts as unknown, so that the worker decides.
    do { return try JSONObject(parsing: value) } catch { return nil }
  }
}
