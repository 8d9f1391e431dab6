package import AppStore

/// The key of a notification's record. Records with the same key stay in order, so the key identifies the subject of
/// the notification, such as a subscription.
package enum OrderingKey {
  /// Returns the key of a version 2 notification: the first of these values that is present and not empty.
  ///
  /// 1. `originalTransactionId` of the transaction, then of the renewal info
  /// 2. `requestIdentifier` of a summary
  /// 3. `externalPurchaseId` of an external purchase token
  /// 4. `appTransactionId` of an app transaction (consent)
  /// 5. `notificationUUID`
  ///
  /// - Returns: `nil` if there is none. Every documented notification has one.
  package static func of(
    _ payload: ResponseBodyV2DecodedPayload, transaction: JWSTransactionDecodedPayload?,
    renewalInfo: JWSRenewalInfoDecodedPayload?, appTransaction: AppTransaction?
  ) -> String? {
    let candidates: [String?] = [
      transaction?.originalTransactionId, renewalInfo?.originalTransactionId, payload.summary?.requestIdentifier,
      payload.externalPurchaseToken?.externalPurchaseId, appTransaction?.appTransactionId, payload.notificationUUID,
    ]
    return candidates.lazy.compactMap { $0 }.first { !$0.isEmpty }
  }

  /// Returns the key of a version 1 notification: the `original_transaction_id` of the body, else of the row that was
  /// refunded last, else of the row that was bought last.
  ///
  /// - Returns: `nil` if the notification names no transaction.
  package static func of(_ body: ResponseBodyV1) -> String? { body.orderingKey }
}
