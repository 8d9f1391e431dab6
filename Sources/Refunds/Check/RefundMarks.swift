// The state that the check reads first: the known refunds, and the revision up to which each customer was read.

internal import AppStore
internal import KafkaClient
internal import MillraceRecords
internal import Synchronization

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
    let dates = Mutex<[String: String]>([:])
    try await Tables.read(prefix + RefundsWorker.entitlementsTopic, from: log) { key, value in
      var date: String?
      if case .object(let revocation)? = value?["revocation"] { date = revocation["date"]?.text }
      dates.withLock { $0[key] = date }
    }
    return KnownRefunds(dates: dates.withLock { $0 })
  }
}

/// The revision up to which each customer was read.
struct RefundMarks: Sendable {
  /// The topic of the revisions, without the deployment's prefix.
  static let topic = "millrace.refund-checks"

  private let revisions: [String: String]

  func revision(of customer: RefundCustomer) -> String? { revisions[Self.key(customer)] }

  static func load(from log: any RecordLog, prefix: String) async throws -> RefundMarks {
    let revisions = Mutex<[String: String]>([:])
    try await Tables.read(prefix + topic, from: log) { key, value in
      revisions.withLock { $0[key] = value?["revision"]?.text }
    }
    return RefundMarks(revisions: revisions.withLock { $0 })
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

  /// Passes each record's key and object to `take`, in partition order. The object is nil for tombstones and for values
  /// that are not JSON objects.
  static func read(
    _ topic: String, from log: any RecordLog, _ take: @escaping @Sendable (String, JSONObject?) -> Void
  ) async throws {
    let count = try await log.partitionCounts(of: [topic], timeout: timeout)[topic] ?? 0
    for partition in 0..<Int32(count) {
      try await log.scan(
        TopicPartition(topic: topic, partition: partition), from: .earliest, to: .highWatermark, upTo: pageSize
      ) { records in
        for record in records { take(String(decoding: record.key ?? [], as: UTF8.self), object(record.value)) }
      }
    }
  }

  private static func object(_ value: [UInt8]?) -> JSONObject? {
    guard let value else { return nil }
    // Only Millrace writes here. An unreadable value counts as unknown, so that the worker decides.
    do { return try JSONObject(parsing: value) } catch { return nil }
  }
}
