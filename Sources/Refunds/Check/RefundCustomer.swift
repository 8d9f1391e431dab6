// The customers to check: listed by an operator, or found in recent notifications.

package import AppStore
internal import AppStoreSignature
package import MillraceTime
internal import KafkaClient
package import MillraceRecords

/// A customer of an app, identified by any of their transactions.
package struct RefundCustomer: Sendable, Hashable {
  /// The identity of the customer: `appTransactionId` if known, else the transaction.
  package var name: String
  /// Any transaction of the customer.
  package var transactionId: String
  /// The app.
  package var bundleId: String
  /// The environment to ask; nil for production, then the sandbox.
  package var environment: AppStoreEnvironment?

  /// Creates a customer.
  package init(_ transactionId: String, name: String? = nil, bundleId: String, environment: AppStoreEnvironment?) {
    self.transactionId = transactionId
    self.name = name ?? transactionId
    self.bundleId = bundleId
    self.environment = environment
  }

  /// Parses a list of customers, one transaction per line. Ignores empty lines, comments after `#` and repetitions.
  package static func named(
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

/// The customers in notifications since a given time.
package enum RecentCustomers {
  /// The families whose notifications are about purchases.
  static let families: [NotificationFamily] = [
    .subscriptions, .purchases, .refunds, .renewalExtensions, .consumptionRequests,
  ]

  /// Reads the notifications since `time` without verifying them. A forged one can only cause a call to Apple, whose
  /// response is authoritative.
  ///
  /// - Parameters:
  ///   - environment: The environment; nil for all environments of the app.
  ///   - prefix: The prefix of every topic's name.
  ///   - clock: The clock for the times at which notifications were written.
  /// - Throws: `KafkaError`; `CancellationError`.
  package static func load(
    since time: Timestamp, bundleId: String, environment: AppStoreEnvironment?, from log: any RecordLog, prefix: String,
    clock: MillraceClock = .system
  ) async throws -> [RefundCustomer] {
    let found = try await log.fold(
      families.map { prefix + $0.topic }, since: time, by: clock,
      into: (customers: [RefundCustomer](), names: Set<[String]>())
    ) { found, record in
      guard let customer = customer(of: record), customer.bundleId == bundleId,
        environment == nil || customer.environment == environment
      else { return }
      guard found.names.insert([customer.environment?.rawValue ?? "", customer.name]).inserted else { return }
      found.customers.append(customer)
    }
    return found.customers
  }

  static func customer(of record: ConsumerRecord) -> RefundCustomer? {
    let envelope = NotificationEnvelope(record)
    guard let bundleId = envelope.bundleId, let environment = envelope.environment, let key = envelope.subject,
      // Only numeric keys are transactions. A summary's key is its request, and a notification without a purchase has
      // its own id as the key.
      !key.isEmpty, key.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
    else { return nil }
    return RefundCustomer(key, name: appTransactionId(in: record), bundleId: bundleId, environment: environment)
  }

  /// Returns the `appTransactionId`, by which a customer with several purchases is checked once.
  private static func appTransactionId(in record: ConsumerRecord) -> String? {
    guard let value = record.value, case .object(let data)? = payload(of: value)?["data"],
      let token = data["signedTransactionInfo"]?.text
    else { return nil }
    return payload(of: Array(token.utf8))?["appTransactionId"]?.text
  }

  private static func payload(of jws: [UInt8]) -> JSONObject? {
    // A version 1 body or a foreign record: the key is enough.
    do { return try UnverifiedToken(parsing: jws).payload } catch { return nil }
  }
}
