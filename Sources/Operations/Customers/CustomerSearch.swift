// Finds a customer by any id that support has: a transaction, an order, an appAccountToken or a notification.

package import AppStore
internal import AppStoreServerAPI
internal import KafkaClient
package import MillraceCore
package import MillraceRecords
package import MillraceTime
internal import Subscriptions

/// Finds the keys of a customer's records.
package struct CustomerSearch: Sendable {
  /// The form of an id, which determines where it is looked for.
  package enum Form: Sendable, Hashable {
    /// A number: any transaction.
    case transaction
    /// A UUID: an `appAccountToken`, or the id of a notification.
    case uuid
    /// Letters and digits: an order ID, such as `MK5TTTVWJH`.
    case order
    /// A SHA-256 digest: the id of a version 1 notification.
    case digest

    /// Recognizes the form; nil for any other text.
    package init?(_ id: String) {
      let bytes = Array(id.utf8)
      let parts = id.split(separator: "-", omittingEmptySubsequences: false)
      if (1...Self.maximumDigits).contains(bytes.count), bytes.allSatisfy({ (48...57).contains($0) }) {
        self = .transaction
      } else if parts.map(\.utf8.count) == [8, 4, 4, 4, 12], Form.isHexadecimal(parts.joined()) {
        self = .uuid
      } else if (8...16).contains(bytes.count), bytes.allSatisfy({ (48...57).contains($0) || (65...90).contains($0) }) {
        self = .order
      } else if bytes.count == 64, Form.isHexadecimal(id) {
        self = .digest
      } else {
        return nil
      }
    }

    /// More digits than any transaction has.
    private static let maximumDigits = 31

    static func isHexadecimal(_ text: String) -> Bool { text.allSatisfy { $0.isASCII && $0.isHexDigit } }
  }

  /// The result of a search.
  package struct Customer: Sendable, Hashable {
    /// The keys of the customer's records, sorted: the original transaction of each subscription and purchase.
    package var keys: [String]
    /// The kind of the id, such as `appAccountToken`; nil if it is the key itself.
    package var relation: String?
    /// Whether anything names the keys.
    package var finding: Finding

    /// Creates a result.
    package init(keys: [String], relation: String? = nil, finding: Finding = .found) {
      (self.keys, self.relation, self.finding) = (keys, relation, finding)
    }
  }

  /// Whether anything names a key.
  package enum Finding: Sendable, Hashable {
    /// A row, a notification or Apple names it.
    case found
    /// No row or notification names it, and Apple does not know it or was not asked.
    case absent
    /// No row or notification names it, and Apple's answer failed with this problem.
    case unanswered(String)
  }

  /// Asks Apple for the original transactions of a transaction or an order; empty if Apple knows none.
  package typealias Question = @Sendable (_ id: String, _ form: Form) async throws -> [String]

  private let log: any RecordLog
  private let prefix: String
  private let apple: Question?
  private let note: @Sendable (String) -> Void

  /// The tables with a row for a purchase. Consumables have one only after a refund.
  static let tables = SubscriptionTable.topics + ["appstore.entitlements"]
  private static let timeout = Duration.seconds(15)

  /// - Parameters:
  ///   - prefix: The prefix of every topic's name.
  ///   - apple: See ``asking(_:clock:note:)``; nil if no app has credentials.
  ///   - note: Receives what is read, for people.
  package init(
    in log: any RecordLog, prefix: String, apple: Question?, note: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    (self.log, self.prefix, self.apple, self.note) = (log, prefix, apple, note)
  }

  /// Returns the customer with an id; nil if nothing names the id, which can still be the key of records.
  ///
  /// Looks in the tables first, then asks Apple about transactions and orders, and reads all notifications last.
  /// - Throws: ``OperationError`` for an order without credentials; `APIError` if Apple does not answer about an order;
  ///   `KafkaError`; `CancellationError`.
  package func find(_ id: String) async throws -> Customer? {
    switch Form(id) {
    case .transaction?: try await find(transaction: id)
    case .uuid?: try await find(uuid: id)
    case .order?: try await find(order: id)
    case .digest?: try await find(notification: id)
    case nil: nil
    }
  }

  private func find(transaction id: String) async throws -> Customer? {
    if let row = try await row(of: id) { return customer([row.text("originalTransactionId") ?? id], id, "transaction") }
    let keys = try await keys(of: "transactionId", id)
    if !keys.isEmpty { return customer(keys, id, "transaction") }
    var problem: APIError?
    if let apple {
      do {
        let keys = try await apple(id, .transaction)
        if !keys.isEmpty { return customer(keys, id, "transaction") }
      } catch let error as APIError {
        problem = error
        note("\(error); reading the notifications")
      }
    }
    var selection = RecordSelection()
    selection.transactions = [id]
    let matcher = RecordMatcher(selection)
    if let key = try await key(where: nil, { matcher.matches($0) }) { return customer([key], id, "transaction") }
    return problem.map { Customer(keys: [id], finding: .unanswered("\($0)")) }
  }

  private func find(uuid id: String) async throws -> Customer? {
    var keys = try await keys(of: "appAccountToken", id)
    if !keys.isEmpty { return customer(keys, id, "appAccountToken") }
    if let customer = try await find(notification: id) { return customer }
    keys = try await transactions(of: id, in: NotificationFamily.all.map(\.topic)) { _ in }
    return keys.isEmpty ? nil : customer(keys, id, "appAccountToken")
  }

  private func find(notification id: String) async throws -> Customer? {
    let ids = HeaderFilter(["ce_id": [id, id.lowercased(), id.uppercased()].map { Array($0.utf8) }])
    return try await key(where: ids) { _ in true }.map { customer([$0], id, "notification") }
  }

  private func find(order id: String) async throws -> Customer? {
    guard let apple else {
      throw OperationError(
        .failed, "only Apple knows the customer of an order, and no app has credentials", at: id,
        remedy: "set apps[].api, or use a transaction ID")
    }
    let keys = try await apple(id, .order)
    return keys.isEmpty ? nil : customer(keys, id, "order")
  }

  private func customer(_ keys: [String], _ id: String, _ relation: String) -> Customer {
    Customer(keys: Set(keys).sorted(), relation: keys == [id] ? nil : relation)
  }

  /// Returns the row of a subscription or purchase, or else of a refund; nil if there is none, or if no worker writes the
  /// tables.
  package func row(of key: String) async throws -> JSONObject? {
    do {
      return try await SubscriptionTable(in: log, prefix: prefix).row(of: key, in: Self.tables)
    } catch let error as MillraceError where error.area == .topics {
      note("\(error)")
      return nil
    }
  }

  // MARK: - Ids

  /// Returns an id without what a mail, a log or a form adds to it, in the form in which Apple writes it.
  /// - Throws: ``OperationError`` if the text is no id.
  package static func id(_ given: String) throws(OperationError) -> String {
    let visible = given.unicodeScalars.filter {
      !$0.properties.isWhitespace && $0.properties.generalCategory != .format
    }
    var text = String(String.UnicodeScalarView(visible))[...]
    func isAround(_ character: Character?) -> Bool { character.map { $0.isPunctuation || $0.isSymbol } ?? false }
    while isAround(text.first) { text.removeFirst() }
    while isAround(text.last) { text.removeLast() }
    let id = spelled(String(text))
    guard Form(id) != nil else {
      throw OperationError(
        .usage, "not a transaction, order, token or notification id",
        at: given.isEmpty ? "id" : String(given.prefix(80)),
        remedy: "copy the whole id, such as 2000000123450000, MK5TTTVWJH or 7e3fb20b-4cdb-47cc-936d-99d65f608138")
    }
    return id
  }

  /// Adds the hyphens of a UUID, and writes an order ID in capitals.
  private static func spelled(_ id: String) -> String {
    let isHexadecimal = Form.isHexadecimal(id)
    if id.utf8.count == 32, isHexadecimal {
      var rest = id[...]
      return [8, 4, 4, 4, 12].map { count in
        defer { rest = rest.dropFirst(count) }
        return String(rest.prefix(count))
      }.joined(separator: "-")
    }
    // The beginning of a token has only hexadecimal digits, and a word has no digits.
    let order = id.uppercased()
    guard id.allSatisfy(\.isASCII), !isHexadecimal, id.contains(where: \.isNumber) else { return id }
    return Form(order) == .order ? order : id
  }

  // MARK: - Reading

  /// Returns the bodies of the quarantine that claim one of these ids, the newest first. Reads the newest
  /// ``newestQuarantined`` records of each partition.
  /// - Throws: `CancellationError`. Other problems go to `note`: without the quarantine, the rest is still known.
  package func quarantined(claiming ids: [String]) async throws -> [QuarantineEntry] {
    do {
      let ranges = try await ranges(of: [QuarantineRecord.topic]).mapValues {
        max($0.lowerBound, $0.upperBound - Self.newestQuarantined)..<$0.upperBound
      }
      return try await log.fold(ranges, into: QuarantineInventory()) { inventory, page in
        for record in page.records {
          guard let entry = QuarantineEntry(record), ids.contains(where: { entry.names($0) }) else { continue }
          inventory.add(entry)
        }
      }.entries.reversed()
    } catch let error as KafkaError {
      try Task.checkCancellation()
      note("could not read the quarantine: \(error)")
      return []
    }
  }

  private static let newestQuarantined: Int64 = 10_000

  /// Returns the original transactions of a customer, sorted, from rows and notifications with an `appAccountToken`.
  /// - Parameters:
  ///   - topics: Tables and families, without the deployment's prefix.
  ///   - report: Receives the number of records that were read.
  func transactions(
    of appAccountToken: String, in topics: [String], report: @escaping @Sendable (Int) -> Void
  ) async throws -> [String] {
    let token = appAccountToken.lowercased()
    let found = try await log.fold(ranges(of: topics), into: (ids: Set<String>(), read: 0)) { found, page in
      found.ids.formUnion(page.records.compactMap { Self.originalTransactionId(in: $0, of: token) })
      found.read += page.records.count
      report(found.read)
    }
    return found.ids.sorted()
  }

  private static func originalTransactionId(in record: ConsumerRecord, of token: String) -> String? {
    guard let value = record.value else { return nil }
    switch RecordPayload(value) {
    case .v2(_, let inner):
      let tokens = [inner.transaction?.appAccountToken, inner.renewalInfo?.appAccountToken]
      guard tokens.contains(where: { $0?.lowercased() == token }) else { return nil }
      return inner.transaction?.originalTransactionId ?? inner.renewalInfo?.originalTransactionId
    case .object(let row):
      return row.text("appAccountToken")?.lowercased() == token ? row.text("originalTransactionId") : nil
    case .v1, .foreign: return nil
    }
  }

  /// Returns the original transactions of the rows in which a member has a value.
  private func keys(of member: String, _ value: String) async throws -> [String] {
    guard member != "appAccountToken" else { return try await transactions(of: value, in: Self.tables) { _ in } }
    let found = try await log.fold(ranges(of: Self.tables), into: Set<String>()) { found, page in
      for record in page.records {
        guard let bytes = record.value, case .object(let row) = RecordPayload(bytes), row.text(member) == value,
          let key = row.text("originalTransactionId")
        else { continue }
        found.insert(key)
      }
    }
    return found.sorted()
  }

  private struct Match: Error { var key: String }

  /// Returns the key of a notification that matches; nil if none does.
  private func key(
    where filter: HeaderFilter?, _ matches: @escaping @Sendable (ConsumerRecord) -> Bool
  ) async throws -> String? {
    note("reading the notifications")
    do {
      try await log.scan(ranges(of: NotificationFamily.all.map(\.topic)), where: filter, upTo: 1_000) { page in
        guard let key = page.records.first(where: matches)?.key else { return }
        throw Match(key: String(decoding: key, as: UTF8.self))
      }
    } catch let match as Match {
      return match.key
    }
    return nil
  }

  private func ranges(of topics: [String]) async throws -> [TopicPartition: Range<Int64>] {
    try await log.highWatermarks(
      of: log.partitions(of: topics.map { prefix + $0 }, timeout: Self.timeout), timeout: Self.timeout)
  }

  // MARK: - Apple

  /// Returns the question to Apple for all apps with credentials, inside the part of the budget for commands; nil if
  /// there are none.
  package static func asking(
    _ configuration: MillraceConfiguration, clock: MillraceClock, note: @escaping @Sendable (String) -> Void
  ) -> Question? {
    let apps = configuration.apps.filter(\.api.isComplete)
    guard !apps.isEmpty else { return nil }
    return { id, form in
      guard form != .order || apps.contains(where: { $0.environments.contains(.production) }) else {
        throw OperationError(
          .failed, "Apple knows orders of production only, and no app with credentials has that environment", at: id,
          remedy: "add Production to its apps[].environments, or use a transaction ID")
      }
      for settings in apps where form != .order || settings.environments.contains(.production) {
        let app = try APIApp(app: settings.bundleId, environment: nil, in: configuration)
        let found = try await APIAccess.with(app, configuration, clock: clock) { client in
          try await keys(of: id, form, client.askingSandboxBeforeRelease(note))
        }
        if !found.isEmpty { return found }
      }
      return []
    }
  }

  private static func keys(
    of id: String, _ form: Form, _ client: AppStoreServerClient
  ) async throws(APIError) -> [String] {
    switch form {
    case .order:
      let order = try await client.lookUpOrderId(id).value
      return Set(order.transactions.compactMap(\.payload.originalTransactionId)).sorted()
    case .transaction:
      do throws(APIError) {
        return [try await client.getTransactionInfo(id).value.payload.originalTransactionId].compactMap(\.self)
      } catch {
        guard error.code == .transactionIdNotFound || error.code == .invalidTransactionId else { throw error }
        return []
      }
    case .uuid, .digest: return []
    }
  }
}
