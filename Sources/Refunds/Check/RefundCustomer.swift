// Whom to ask about, as an operator names them or as notifications of late do.

public import AppStore
internal import AppStoreSignature
internal import Clocks
internal import Kafka
public import Millrace

/// A customer of an app, by any of the transactions.
public struct RefundCustomer: Sendable, Hashable {
  /// What tells customers apart: `appTransactionId` where it is known, else the transaction.
  public var name: String
  /// Any transaction of the customer.
  public var transactionId: String
  /// The app.
  public var bundleId: String
  /// Where to ask; nil: production, then the sandbox.
  public var environment: AppStoreEnvironment?

  /// A customer.
  public init(_ transactionId: String, name: String? = nil, bundleId: String, environment: AppStoreEnvironment?) {
    self.transactionId = transactionId
    self.name = name ?? transactionId
    self.bundleId = bundleId
    self.environment = environment
  }

  /// The customers that a text names: one transaction a line; empty lines and what follows `#` do not count. Each once.
  public static func named(
    in text: String, bundleId: String, environment: AppStoreEnvironment?
  ) -> [RefundCustomer] {
    var seen: Set<String> = []
    return text.split(whereSeparator: \.isNewline).compactMap { line in
      let id = line.prefix { $0 != "#" }.filter { !$0.isWhitespace }
      guard !id.isEmpty, seen.insert(id).inserted else { return nil }
      return RefundCustomer(id, bundleId: bundleId, environment: environment)
    }
  }
}

extension RefundCustomer {
  /// What `--since` means: a time ago such as `36h` or `7d`, or a moment in UTC; nil for anything else.
  public static func moment(_ text: String, now: Timestamp) -> Timestamp? {
    if let moment = Timestamp(rfc3339: text) { return moment }
    return DurationText.parse(text).map { now - $0 }
  }
}

/// The customers that notifications told of since some time.
public enum RecentCustomers {
  /// Families whose notifications are about purchases.
  static let families: [NotificationFamily] = [
    .subscriptions, .purchases, .refunds, .renewalExtensions, .consumptionRequests,
  ]

  /// Reads the notifications that were written since `time`. They are not verified: whom to ask about is no secret, and
  /// what Apple answers is.
  ///
  /// - Parameters:
  ///   - environment: Nil: all environments of the app.
  ///   - prefix: Put before every topic's name.
  /// - Throws: `KafkaError`; `CancellationError`.
  public static func load(
    since time: Timestamp, bundleId: String, environment: AppStoreEnvironment?, from log: any RecordLog, prefix: String
  ) async throws -> [RefundCustomer] {
    let found = FoundCustomers()
    try await log.scan(families.map { prefix + $0.topic }, since: time) { record in
      guard let customer = customer(of: record), customer.bundleId == bundleId,
        environment == nil || customer.environment == environment
      else { return }
      await found.add(customer)
    }
    return await found.customers
  }

  static func customer(of record: ConsumerRecord) -> RefundCustomer? {
    let envelope = NotificationEnvelope(record)
    guard let bundleId = envelope.bundleId, let environment = envelope.environment, let key = envelope.subject,
      // A summary's key is its request, and what names nothing has an id of its own: nobody can be asked about either.
      !key.isEmpty, key.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return RefundCustomer(key, name: appTransactionId(in: record), bundleId: bundleId, environment: environment)
  }

  /// Customers with several purchases are asked about once.
  private static func appTransactionId(in record: ConsumerRecord) -> String? {
    guard let value = record.value, case .object(let data)? = payload(of: value)?["data"],
      let token = data["signedTransactionInfo"]?.text
    else { return nil }
    return payload(of: Array(token.utf8))?["appTransactionId"]?.text
  }

  private static func payload(of jws: [UInt8]) -> JSONObject? {
    // A version 1 body, or one that somebody else wrote: the key is all that is needed.
    do { return try UnverifiedToken(parsing: jws).payload } catch { return nil }
  }
}

private actor FoundCustomers {
  private(set) var customers: [RefundCustomer] = []
  private var names: Set<[String]> = []

  func add(_ customer: RefundCustomer) {
    guard names.insert([customer.environment?.rawValue ?? "", customer.name]).inserted else { return }
    customers.append(customer)
  }
}
