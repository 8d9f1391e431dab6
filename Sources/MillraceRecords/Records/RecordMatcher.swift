// Matches records against a selection. It compares bytes in place, so that records outside the selection cost neither
// decoding nor allocations.

package import AppStore
internal import AppStoreSignature
package import KafkaClient

/// A selection, prepared for matching many records.
package struct RecordMatcher: Sendable {
  private let selection: RecordSelection
  private let types: [[UInt8]]
  private let subtypes: [[UInt8]]
  private let environments: [[UInt8]]
  private let apps: [[UInt8]]
  private let keys: [[UInt8]]
  private let reasons: [[UInt8]]
  private let transactions: Set<String>
  private let transactionKeys: [[UInt8]]
  private let readsHeaders: Bool

  private static let source = Array("appstore/".utf8)

  /// Creates a matcher for a selection.
  package init(_ selection: RecordSelection) {
    self.selection = selection
    let prefixes = [
      NotificationRecord.v2TypePrefix, NotificationRecord.v1TypePrefix, FoundRefundRecord.typePrefix,
      ImportRecord.typePrefix,
    ]
    types = selection.types.flatMap { type in prefixes.map { Array(($0 + type).utf8) } }
    func bytes(_ texts: [String]) -> [[UInt8]] { texts.map { Array($0.utf8) } }
    subtypes = bytes(selection.subtypes)
    environments = bytes(selection.environments)
    apps = bytes(selection.apps)
    keys = bytes(selection.keys)
    reasons = bytes(selection.reasons)
    transactions = Set(selection.transactions)
    transactionKeys = bytes(selection.transactions)
    readsHeaders = !(types.isEmpty && subtypes.isEmpty && environments.isEmpty && apps.isEmpty && reasons.isEmpty)
  }

  /// The part of the selection that headers alone can decide; nil if there is none. It accepts every record that
  /// ``matches(_:at:)`` accepts, and possibly more.
  package var headers: HeaderFilter? {
    let wanted = ["ce_type": types, "ce_subtype": subtypes, DeadLetter.reasonHeader: reasons]
    let values = wanted.filter { !$0.value.isEmpty }
    return values.isEmpty ? nil : HeaderFilter(values)
  }

  /// Returns whether the selection contains a record.
  ///
  /// - Parameter time: The time of the record; nil: its timestamp.
  package func matches(_ record: ConsumerRecord, at time: Timestamp? = nil) -> Bool {
    guard hasPlace(record), hasTime(time?.millisecondsSince1970 ?? record.timestamp), hasKey(record),
      !readsHeaders || hasHeaders(record.headers)
    else { return false }
    return transactions.isEmpty || hasTransaction(record)
  }

  private func hasPlace(_ record: ConsumerRecord) -> Bool {
    (selection.partitions.isEmpty || selection.partitions.contains(record.partition))
      && (selection.from.map { record.offset >= $0 } ?? true) && (selection.to.map { record.offset < $0 } ?? true)
      && (selection.topics.isEmpty || selection.topics.contains(record.topic))
  }

  private func hasTime(_ time: Int64?) -> Bool {
    guard selection.since != nil || selection.until != nil else { return true }
    guard let time else { return false }
    return (selection.since.map { time >= $0.millisecondsSince1970 } ?? true)
      && (selection.until.map { time < $0.millisecondsSince1970 } ?? true)
  }

  private func hasKey(_ record: ConsumerRecord) -> Bool {
    guard !keys.isEmpty else { return true }
    guard let key = record.key else { return false }
    return keys.contains(key)
  }

  private func hasHeaders(_ headers: [RecordHeader]) -> Bool {
    var type: [UInt8]?
    var subtype: [UInt8]?
    var source: [UInt8]?
    var reason: [UInt8]?
    // If a header occurs twice, the last one counts, as for every reader.
    for header in headers {
      switch header.name {
      case "ce_type": type = header.value
      case "ce_subtype": subtype = header.value
      case "ce_source": source = header.value
      case DeadLetter.reasonHeader: reason = header.value
      default: break
      }
    }
    func isOne(_ value: [UInt8]?, of wanted: [[UInt8]]) -> Bool {
      wanted.isEmpty || (value.map { wanted.contains($0) } ?? false)
    }
    return isOne(type, of: types) && isOne(subtype, of: subtypes) && isOne(reason, of: reasons) && hasSource(source)
  }

  /// Matches `appstore/<environment>/<bundleId>`.
  private func hasSource(_ source: [UInt8]?) -> Bool {
    guard !environments.isEmpty || !apps.isEmpty else { return true }
    guard let source, source.starts(with: Self.source) else { return false }
    let rest = source[Self.source.count...]
    guard let slash = rest.firstIndex(of: UInt8(ascii: "/")) else { return false }
    let (environment, app) = (rest[..<slash], rest[(slash + 1)...])
    return (environments.isEmpty || environments.contains { environment.elementsEqual($0) })
      && (apps.isEmpty || apps.contains { app.elementsEqual($0) })
  }

  // MARK: - Payloads

  // A value that cannot be decoded names no transaction.

  /// Checked last. The key of most records is the original transaction, so that most matching records are not decoded
  /// either.
  private func hasTransaction(_ record: ConsumerRecord) -> Bool {
    if let key = record.key, transactionKeys.contains(key) { return true }
    guard let value = record.value else { return false }
    return value.first == UInt8(ascii: "{") ? hasTransaction(v1: value) : hasTransaction(jws: value)
  }

  private func hasTransaction(v1 value: [UInt8]) -> Bool {
    guard let body = try? ResponseBodyV1(parsing: value) else { return false }
    return body.receiptRows.contains { isMeant($0.transaction_id) || isMeant($0.original_transaction_id) }
  }

  private func hasTransaction(jws value: [UInt8]) -> Bool {
    guard let payload = (try? UnverifiedToken(parsing: value))?.payload else { return false }
    if isMeant(payload.text("transactionId")) || isMeant(payload.text("originalTransactionId")) { return true }
    let notification = ResponseBodyV2DecodedPayload(json: payload)
    let inner = [notification.data?.signedTransactionInfo, notification.data?.signedRenewalInfo]
    return inner.compactMap { $0 }.contains { token in
      guard let payload = (try? UnverifiedToken(parsing: token.utf8))?.payload else { return false }
      return isMeant(payload.text("transactionId")) || isMeant(payload.text("originalTransactionId"))
    }
  }

  private func isMeant(_ transaction: String?) -> Bool { transaction.map { transactions.contains($0) } ?? false }
}
