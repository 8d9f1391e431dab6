// What orders a notification: records with one key stay in order, so the key is what the notification is about.

public import AppStore

/// The key of a notification's record.
public enum OrderingKey {
  /// The key of a version 2 notification: `originalTransactionId` of the transaction, else of the renewal info; for a
  /// summary its `requestIdentifier`; for a token its `externalPurchaseId`; for consent its `appTransactionId`; else
  /// `notificationUUID`.
  ///
  /// - Returns: `nil` when the notification has none of these, which no documented one does. Empty texts count as absent.
  public static func of(
    _ payload: ResponseBodyV2DecodedPayload, transaction: JWSTransactionDecodedPayload?,
    renewalInfo: JWSRenewalInfoDecodedPayload?, appTransaction: AppTransaction?
  ) -> String? {
    let candidates: [String?] = [
      transaction?.originalTransactionId, renewalInfo?.originalTransactionId, payload.summary?.requestIdentifier,
      payload.externalPurchaseToken?.externalPurchaseId, appTransaction?.appTransactionId, payload.notificationUUID,
    ]
    return candidates.lazy.compactMap { $0 }.first { !$0.isEmpty }
  }

  /// The key of a version 1 notification: `original_transaction_id` of the body; else of the row that was refunded last;
  /// else of the row that was bought last.
  ///
  /// - Returns: `nil` when the notification names no transaction.
  public static func of(_ body: ResponseBodyV1) -> String? { body.orderingKey }
}
