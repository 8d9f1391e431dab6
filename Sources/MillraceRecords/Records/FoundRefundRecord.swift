// A refund that was found by asking Apple instead of through a notification: the signed transaction, for the worker
// that acts on refunds.

package import AppStore
package import KafkaClient

/// A refunded transaction as it is written to `appstore.transactions.refunds`.
///
/// The value is the JWS that Apple returned. The id consists of the transaction and the date of the refund, so that a
/// refund has the same id each time it is found. After a reversal, a new refund has another date and another id.
package struct FoundRefundRecord: Sendable, Hashable {
  /// The prefix of `ce_type`.
  package static let typePrefix = "com.apple.appstore.transaction."
  /// The rest of `ce_type`.
  package static let typeName = "REFUND"

  /// The JWS as Apple signed it.
  package var jws: String
  /// The decoded transaction.
  package var transaction: JWSTransactionDecodedPayload

  /// Creates the record of a verified transaction.
  package init(jws: String, transaction: JWSTransactionDecodedPayload) {
    self.jws = jws
    self.transaction = transaction
  }

  /// Returns `ce_id`; nil for a transaction without an id or without a refund.
  package static func id(of transaction: JWSTransactionDecodedPayload) -> String? {
    guard let id = transaction.transactionId, !id.isEmpty, let date = transaction.revocationDate else { return nil }
    return "refund-\(id)-\(date.millisecondsSince1970)"
  }

  /// Returns the record's key, which orders it with the notifications about the same purchase; nil for a transaction
  /// without an id.
  package static func key(of transaction: JWSTransactionDecodedPayload) -> String? {
    [transaction.originalTransactionId, transaction.transactionId].lazy.compactMap { $0 }.first { !$0.isEmpty }
  }

  /// Returns the Kafka record; nil if the transaction is not refunded.
  ///
  /// - Parameters:
  ///   - prefix: The prefix of the topic's name.
  ///   - run: The run that found the refund.
  package func producerRecord(prefix: String, run: String? = nil) -> ProducerRecord? {
    guard let id = Self.id(of: transaction), let key = Self.key(of: transaction) else { return nil }
    var extensions = ["origin": NotificationOrigin.history.rawValue]
    extensions[AuditRecord.runAttribute] = run
    let event = CloudEvent(
      id: id, source: NotificationRecord.source(transaction.environment, transaction.bundleId),
      type: Self.typePrefix + Self.typeName, subject: key, time: transaction.signedDate,
      contentType: "application/jose", extensions: extensions)
    return ProducerRecord(
      topic: prefix + NotificationFamily.foundRefunds.topic, key: Array(key.utf8), value: Array(jws.utf8),
      headers: event.headers)
  }
}
