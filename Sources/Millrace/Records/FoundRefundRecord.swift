// A refund that no notification told: the transaction as Apple signed it when it was asked, on its way to the worker that
// acts on refunds.

public import AppStore
public import Kafka

/// A refunded transaction as it is written to `appstore.transactions.refunds`.
///
/// The value is the JWS that Apple returned. One refund has one id, however often it is found: transaction and date of
/// the refund. After a reversal, a new refund of the transaction has another date and so another id.
public struct FoundRefundRecord: Sendable, Hashable {
  /// What `ce_type` begins with.
  public static let typePrefix = "com.apple.appstore.transaction."
  /// What follows in `ce_type`.
  public static let typeName = "REFUND"

  /// The JWS as Apple signed it.
  public var jws: String
  /// What it says.
  public var transaction: JWSTransactionDecodedPayload

  /// The record of a transaction that was verified.
  public init(jws: String, transaction: JWSTransactionDecodedPayload) {
    self.jws = jws
    self.transaction = transaction
  }

  /// `ce_id`; nil for a transaction that names itself not, or that is not refunded.
  static func id(of transaction: JWSTransactionDecodedPayload) -> String? {
    guard let id = transaction.transactionId, !id.isEmpty, let date = transaction.revocationDate else { return nil }
    return "refund-\(id)-\(date.millisecondsSince1970)"
  }

  /// What orders it among the notifications about the same purchase; nil for a transaction without a name.
  static func key(of transaction: JWSTransactionDecodedPayload) -> String? {
    [transaction.originalTransactionId, transaction.transactionId].lazy.compactMap { $0 }.first { !$0.isEmpty }
  }

  /// The record for Kafka; nil where the transaction is no refund.
  ///
  /// - Parameter prefix: Put before the topic's name.
  public func producerRecord(prefix: String) -> ProducerRecord? {
    guard let id = Self.id(of: transaction), let key = Self.key(of: transaction) else { return nil }
    let event = CloudEvent(
      id: id, source: NotificationRecord.source(transaction.environment, transaction.bundleId),
      type: Self.typePrefix + Self.typeName, subject: key, time: transaction.signedDate,
      contentType: "application/jose", extensions: ["origin": NotificationOrigin.history.rawValue])
    return ProducerRecord(
      topic: prefix + NotificationFamily.foundRefunds.topic, key: Array(key.utf8), value: Array(jws.utf8),
      headers: event.headers)
  }
}
