// What the check reads before it asks: which refunds are known, and how far each customer was read.

internal import AppStore
internal import Kafka
internal import Millrace
internal import Synchronization

/// The refunds that the table of entitlements holds.
struct ToldRefunds: Sendable {
  private let dates: [String: String]

  init(dates: [String: String]) { self.dates = dates }

  /// Whether this refund of this transaction is what the table says. Where the table says something else, or nothing, the
  /// worker is to decide.
  func contains(_ transaction: JWSTransactionDecodedPayload) -> Bool {
    guard let id = transaction.transactionId, let date = transaction.revocationDate else { return false }
    return dates[id] == date.rfc3339
  }

  static func load(from log: any RecordLog, prefix: String) async throws -> ToldRefunds {
    let dates = Mutex<[String: String]>([:])
    try await Tables.read(prefix + RefundsWorker.entitlementsTopic, from: log) { key, value in
      var date: String?
      if case .object(let revocation)? = value?["revocation"] { date = revocation["date"]?.text }
      dates.withLock { $0[key] = date }
    }
    return ToldRefunds(dates: dates.withLock { $0 })
  }
}

/// How far each customer was read.
struct RefundMarks: Sendable {
  /// Where it is kept; without the deployment's prefix.
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

  /// The record that keeps a revision.
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

  /// Every record's key and object in the order of its partition; nil for tombstones and for what is no object.
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
    // Nobody but us writes here; what is unreadable is as good as not told, and the worker decides.
    do { return try JSONObject(parsing: value) } catch { return nil }
  }
}
