// Version 1 bodies: the rows of the receipt and the other members. Almost every value is text, including dates.
package import AppStore

/// One transaction of `latest_receipt_info`.
package struct ReceiptRow {
  package var originalTransactionId: String
  package var transactionId: String
  package var productId: String
  package var purchaseDate: Timestamp
  package var originalPurchaseDate: Timestamp
  package var ownership: InAppOwnershipType
  package var expiresDate: Timestamp?
  package var cancellation: (date: Timestamp, reason: RevocationReason)?
  package var isTrial = false
  package var isInIntroductoryPrice = false
  package var isUpgraded = false
  package var promotionalOfferId: String?
  package var offerCodeReferenceName: String?
  package var quantity: Int64 = 1
  package var subscriptionGroupIdentifier: String?
  package var webOrderLineItemId: String?
  package var appAccountToken: String?

  package init(
    originalTransactionId: String, transactionId: String, productId: String, purchaseDate: Timestamp,
    originalPurchaseDate: Timestamp, ownership: InAppOwnershipType
  ) {
    self.originalTransactionId = originalTransactionId
    self.transactionId = transactionId
    self.productId = productId
    self.purchaseDate = purchaseDate
    self.originalPurchaseDate = originalPurchaseDate
    self.ownership = ownership
  }

  package var json: JSONObject {
    JSONObject(
      (expiresDate.map { Self.dates("expires_date", $0) } ?? [])
        + Self.dates("original_purchase_date", originalPurchaseDate)
        + Self.dates("purchase_date", purchaseDate)
        + (cancellation.map { Self.dates("cancellation_date", $0.date) } ?? [])
        + JSONObject(ordered: [
          "cancellation_reason": cancellation.map { .string(String($0.reason.rawValue)) },
          "app_account_token": appAccountToken.map { .string($0) },
          "in_app_ownership_type": ownership.jsonValue,
          "is_in_intro_offer_period": .string(isInIntroductoryPrice ? "true" : "false"),
          "is_trial_period": .string(isTrial ? "true" : "false"),
          "is_upgraded": isUpgraded ? "true" : nil,
          "offer_code_ref_name": offerCodeReferenceName.map { .string($0) },
          "original_transaction_id": .string(originalTransactionId),
          "product_id": .string(productId),
          "promotional_offer_id": promotionalOfferId.map { .string($0) },
          "quantity": .string(String(quantity)),
          "subscription_group_identifier": subscriptionGroupIdentifier.map { .string($0) },
          "transaction_id": .string(transactionId),
          "web_order_line_item_id": webOrderLineItemId.map { .string($0) },
        ]).members)
  }

  /// Returns a date as text in UTC, in milliseconds and as text in Pacific time.
  package static func dates(_ name: String, _ date: Timestamp) -> [JSONObject.Member] {
    let text = String(date.rfc3339.prefix(19)).split(separator: "T").joined(separator: " ") + " Etc/GMT"
    return [
      JSONObject.Member(key: name, value: .string(text)),
      JSONObject.Member(key: name + "_ms", value: .string(String(date.millisecondsSince1970))),
      JSONObject.Member(key: name + "_pst", value: .string(PacificTime.text(date))),
    ]
  }
}

/// The single row of `pending_renewal_info`, whose values the body partly repeats.
package struct PendingRenewalRow {
  package var productId: String
  package var autoRenewProductId: String
  package var originalTransactionId: String
  package var renews: Bool
  package var isInBillingRetryPeriod: Bool?
  package var expirationIntent: ExpirationIntent?
  package var gracePeriodExpiresDate: Timestamp?
  /// The status of a price increase, which the row has twice.
  package var priceConsentStatus: PriceIncreaseStatus?
  package var promotionalOfferId: String?
  package var offerCodeReferenceName: String?

  package init(productId: String, originalTransactionId: String, renews: Bool) {
    self.productId = productId
    autoRenewProductId = productId
    self.originalTransactionId = originalTransactionId
    self.renews = renews
  }

  fileprivate var json: JSONObject {
    let members = JSONObject(ordered: [
      "auto_renew_product_id": .string(autoRenewProductId),
      "original_transaction_id": .string(originalTransactionId),
      "product_id": .string(productId),
      "auto_renew_status": .string(renews ? "1" : "0"),
      "expiration_intent": expirationIntent.map { .string(String($0.rawValue)) },
      "is_in_billing_retry_period": isInBillingRetryPeriod.map { .string($0 ? "1" : "0") },
      "offer_code_ref_name": offerCodeReferenceName.map { .string($0) },
      "price_consent_status": priceConsentStatus.map { .string(String($0.rawValue)) },
      "price_increase_status": priceConsentStatus.map { .string(String($0.rawValue)) },
      "promotional_offer_id": promotionalOfferId.map { .string($0) },
    ]).members
    return JSONObject(
      members + (gracePeriodExpiresDate.map { ReceiptRow.dates("grace_period_expires_date", $0) } ?? []))
  }
}

/// Builds a version 1 body. For a one-time purchase it has neither `auto_renew_…` nor `pending_renewal_info`.
package func bodyV1(
  _ app: PayloadApp, type: NotificationTypeV1, password: String?, pending: PendingRenewalRow?, rows: [ReceiptRow],
  originalTransactionId: String? = nil, statusChanged: Timestamp? = nil
) -> JSONObject {
  let receipt = JSONObject(ordered: [
    "status": .integer(0),
    "environment": app.environment.jsonValue,
    "latest_receipt_info": .array(rows.map { .object($0.json) }),
    "latest_receipt": .string("MIIUVQYJKoZIhvcNAQcCoIIURjCCFEICAQExCzAJBgUrDgMCGgUA"),
    "pending_renewal_info": pending.map { .array([.object($0.json)]) },
  ])
  let head = JSONObject(ordered: [
    "notification_type": type.jsonValue,
    "password": password.map { .string($0) },
    "environment": .string(app.environment == .production ? "PROD" : app.environment.rawValue),
    "original_transaction_id": (pending?.originalTransactionId ?? originalTransactionId).map { .string($0) },
    "auto_renew_product_id": pending.map { .string($0.autoRenewProductId) },
    "auto_renew_status": pending.map { .string($0.renews ? "true" : "false") },
  ])
  let tail = JSONObject(ordered: [
    // An integer here, but text inside pending_renewal_info.
    "expiration_intent": pending?.expirationIntent?.jsonValue,
    "bid": .string(app.bundleId),
    "bvrs": .string(app.bundleVersion),
    "unified_receipt": .object(receipt),
  ])
  let change = statusChanged.map { ReceiptRow.dates("auto_renew_status_change_date", $0) } ?? []
  return JSONObject(head.members + change + tail.members)
}
