// Written from Sources/AppStore/Fields/V1.md by `scripts/check types --write`.

/// A transaction (App Store Server Notifications V1, `unified_receipt.Latest_receipt_info`). Every value is text,
/// including numbers and dates; computed properties convert it. Fields marked "Old" appear only in rows from before
/// `unified_receipt`.
public struct LatestReceiptInfo: TextOrNumberObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The account that the app set at the purchase, a UUID.
  public var app_account_token: String? {
    get { self["app_account_token"] }
    set { self["app_account_token"] = newValue }
  }

  /// The time at which it was refunded or no longer shared, as text in UTC.
  public var cancellation_date: String? {
    get { self["cancellation_date"] }
    set { self["cancellation_date"] = newValue }
  }

  /// The time at which it was refunded or no longer shared, in milliseconds since 1970.
  public var cancellation_date_ms: String? {
    get { self["cancellation_date_ms"] }
    set { self["cancellation_date_ms"] = newValue }
  }

  /// The time at which it was refunded or no longer shared, as text in Pacific time.
  public var cancellation_date_pst: String? {
    get { self["cancellation_date_pst"] }
    set { self["cancellation_date_pst"] = newValue }
  }

  /// `"1"` for an issue with the app, `"0"` for another reason.
  public var cancellation_reason: String? {
    get { self["cancellation_reason"] }
    set { self["cancellation_reason"] = newValue }
  }

  /// The time at which the subscription expires or renews, as text in UTC; in old rows in milliseconds since 1970.
  public var expires_date: String? {
    get { self["expires_date"] }
    set { self["expires_date"] = newValue }
  }

  /// The time at which the subscription expires or renews, in milliseconds since 1970.
  public var expires_date_ms: String? {
    get { self["expires_date_ms"] }
    set { self["expires_date_ms"] = newValue }
  }

  /// The time at which the subscription expires or renews, as text in Pacific time.
  public var expires_date_pst: String? {
    get { self["expires_date_pst"] }
    set { self["expires_date_pst"] = newValue }
  }

  /// Whether the product was purchased or family-shared.
  public var in_app_ownership_type: InAppOwnershipType? {
    get { self["in_app_ownership_type"] }
    set { self["in_app_ownership_type"] = newValue }
  }

  /// `"true"` in the introductory price period, else `"false"`.
  public var is_in_intro_offer_period: String? {
    get { self["is_in_intro_offer_period"] }
    set { self["is_in_intro_offer_period"] = newValue }
  }

  /// `"true"` in the free trial, else `"false"`.
  public var is_trial_period: String? {
    get { self["is_trial_period"] }
    set { self["is_trial_period"] = newValue }
  }

  /// `"true"` if the customer upgraded to a higher plan, otherwise absent.
  public var is_upgraded: String? {
    get { self["is_upgraded"] }
    set { self["is_upgraded"] = newValue }
  }

  /// The offer code that applied.
  public var offer_code_ref_name: String? {
    get { self["offer_code_ref_name"] }
    set { self["offer_code_ref_name"] = newValue }
  }

  /// The time at which the original transaction was made, as text in UTC.
  public var original_purchase_date: String? {
    get { self["original_purchase_date"] }
    set { self["original_purchase_date"] = newValue }
  }

  /// The time at which the original transaction was made, in milliseconds since 1970.
  public var original_purchase_date_ms: String? {
    get { self["original_purchase_date_ms"] }
    set { self["original_purchase_date_ms"] = newValue }
  }

  /// The time at which the original transaction was made, as text in Pacific time.
  public var original_purchase_date_pst: String? {
    get { self["original_purchase_date_pst"] }
    set { self["original_purchase_date_pst"] = newValue }
  }

  /// The first transaction of the subscription or product.
  public var original_transaction_id: String? {
    get { self["original_transaction_id"] }
    set { self["original_transaction_id"] = newValue }
  }

  /// The promotional offer that applied.
  public var promotional_offer_id: String? {
    get { self["promotional_offer_id"] }
    set { self["promotional_offer_id"] = newValue }
  }

  /// The purchased product.
  public var product_id: String? {
    get { self["product_id"] }
    set { self["product_id"] = newValue }
  }

  /// The time at which the customer was charged, as text in UTC.
  public var purchase_date: String? {
    get { self["purchase_date"] }
    set { self["purchase_date"] = newValue }
  }

  /// The time at which the customer was charged, in milliseconds since 1970.
  public var purchase_date_ms: String? {
    get { self["purchase_date_ms"] }
    set { self["purchase_date_ms"] = newValue }
  }

  /// The time at which the customer was charged, as text in Pacific time.
  public var purchase_date_pst: String? {
    get { self["purchase_date_pst"] }
    set { self["purchase_date_pst"] = newValue }
  }

  /// The number of consumables purchased, `"1"` to `"10"`.
  public var quantity: String? {
    get { self["quantity"] }
    set { self["quantity"] = newValue }
  }

  /// The subscription group of the product.
  public var subscription_group_identifier: String? {
    get { self["subscription_group_identifier"] }
    set { self["subscription_group_identifier"] = newValue }
  }

  /// This transaction.
  public var transaction_id: String? {
    get { self["transaction_id"] }
    set { self["transaction_id"] = newValue }
  }

  /// The purchase event of a subscription across devices.
  public var web_order_line_item_id: String? {
    get { self["web_order_line_item_id"] }
    set { self["web_order_line_item_id"] = newValue }
  }

  /// Old: the app's Apple ID.
  public var app_item_id: String? {
    get { self["app_item_id"] }
    set { self["app_item_id"] = newValue }
  }

  /// Old: the app's bundle identifier.
  public var bid: String? {
    get { self["bid"] }
    set { self["bid"] = newValue }
  }

  /// Old: the build of the app.
  public var bvrs: String? {
    get { self["bvrs"] }
    set { self["bvrs"] = newValue }
  }

  /// Old: the time at which the subscription expires, as text in UTC.
  public var expires_date_formatted: String? {
    get { self["expires_date_formatted"] }
    set { self["expires_date_formatted"] = newValue }
  }

  /// Old: the time at which the subscription expires, as text in Pacific time.
  public var expires_date_formatted_pst: String? {
    get { self["expires_date_formatted_pst"] }
    set { self["expires_date_formatted_pst"] = newValue }
  }

  /// Old: Apple's number for the product.
  public var item_id: String? {
    get { self["item_id"] }
    set { self["item_id"] = newValue }
  }

  /// Old: the device.
  public var unique_identifier: String? {
    get { self["unique_identifier"] }
    set { self["unique_identifier"] = newValue }
  }

  /// Old: the vendor's identifier for the device.
  public var unique_vendor_identifier: String? {
    get { self["unique_vendor_identifier"] }
    set { self["unique_vendor_identifier"] = newValue }
  }

  /// Old: Apple's number for the version of the app.
  public var version_external_identifier: String? {
    get { self["version_external_identifier"] }
    set { self["version_external_identifier"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("app_account_token", \.app_account_token),
    DocumentedField("cancellation_date", \.cancellation_date),
    DocumentedField("cancellation_date_ms", \.cancellation_date_ms),
    DocumentedField("cancellation_date_pst", \.cancellation_date_pst),
    DocumentedField("cancellation_reason", \.cancellation_reason),
    DocumentedField("expires_date", \.expires_date),
    DocumentedField("expires_date_ms", \.expires_date_ms),
    DocumentedField("expires_date_pst", \.expires_date_pst),
    DocumentedField("in_app_ownership_type", \.in_app_ownership_type),
    DocumentedField("is_in_intro_offer_period", \.is_in_intro_offer_period),
    DocumentedField("is_trial_period", \.is_trial_period),
    DocumentedField("is_upgraded", \.is_upgraded),
    DocumentedField("offer_code_ref_name", \.offer_code_ref_name),
    DocumentedField("original_purchase_date", \.original_purchase_date),
    DocumentedField("original_purchase_date_ms", \.original_purchase_date_ms),
    DocumentedField("original_purchase_date_pst", \.original_purchase_date_pst),
    DocumentedField("original_transaction_id", \.original_transaction_id),
    DocumentedField("promotional_offer_id", \.promotional_offer_id),
    DocumentedField("product_id", \.product_id),
    DocumentedField("purchase_date", \.purchase_date),
    DocumentedField("purchase_date_ms", \.purchase_date_ms),
    DocumentedField("purchase_date_pst", \.purchase_date_pst),
    DocumentedField("quantity", \.quantity),
    DocumentedField("subscription_group_identifier", \.subscription_group_identifier),
    DocumentedField("transaction_id", \.transaction_id),
    DocumentedField("web_order_line_item_id", \.web_order_line_item_id),
    DocumentedField("app_item_id", \.app_item_id),
    DocumentedField("bid", \.bid),
    DocumentedField("bvrs", \.bvrs),
    DocumentedField("expires_date_formatted", \.expires_date_formatted),
    DocumentedField("expires_date_formatted_pst", \.expires_date_formatted_pst),
    DocumentedField("item_id", \.item_id),
    DocumentedField("unique_identifier", \.unique_identifier),
    DocumentedField("unique_vendor_identifier", \.unique_vendor_identifier),
    DocumentedField("version_external_identifier", \.version_external_identifier),
  ]
}

/// A renewal that is pending or has failed (App Store Server Notifications V1, `unified_receipt.Pending_renewal_info`).
/// Every value is text; computed properties convert it.
public struct PendingRenewalInfo: TextOrNumberObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The product that renews next.
  public var auto_renew_product_id: String? {
    get { self["auto_renew_product_id"] }
    set { self["auto_renew_product_id"] = newValue }
  }

  /// `"1"` if the subscription will renew, otherwise `"0"`.
  public var auto_renew_status: String? {
    get { self["auto_renew_status"] }
    set { self["auto_renew_status"] = newValue }
  }

  /// The reason the subscription expired, `"1"` to `"5"`.
  public var expiration_intent: String? {
    get { self["expiration_intent"] }
    set { self["expiration_intent"] = newValue }
  }

  /// The time at which the billing grace period ends, as text in UTC.
  public var grace_period_expires_date: String? {
    get { self["grace_period_expires_date"] }
    set { self["grace_period_expires_date"] = newValue }
  }

  /// The time at which the billing grace period ends, in milliseconds since 1970.
  public var grace_period_expires_date_ms: String? {
    get { self["grace_period_expires_date_ms"] }
    set { self["grace_period_expires_date_ms"] = newValue }
  }

  /// The time at which the billing grace period ends, as text in Pacific time.
  public var grace_period_expires_date_pst: String? {
    get { self["grace_period_expires_date_pst"] }
    set { self["grace_period_expires_date_pst"] = newValue }
  }

  /// `"1"` while the App Store tries to renew an expired subscription, otherwise `"0"`.
  public var is_in_billing_retry_period: String? {
    get { self["is_in_billing_retry_period"] }
    set { self["is_in_billing_retry_period"] = newValue }
  }

  /// The offer code that applies.
  public var offer_code_ref_name: String? {
    get { self["offer_code_ref_name"] }
    set { self["offer_code_ref_name"] = newValue }
  }

  /// The first transaction of the subscription.
  public var original_transaction_id: String? {
    get { self["original_transaction_id"] }
    set { self["original_transaction_id"] = newValue }
  }

  /// `"1"` after the customer consented to a price increase, before that `"0"`.
  public var price_consent_status: String? {
    get { self["price_consent_status"] }
    set { self["price_consent_status"] = newValue }
  }

  /// The product of the current period.
  public var product_id: String? {
    get { self["product_id"] }
    set { self["product_id"] = newValue }
  }

  /// The promotional offer that applies.
  public var promotional_offer_id: String? {
    get { self["promotional_offer_id"] }
    set { self["promotional_offer_id"] = newValue }
  }

  /// `"1"` or `"0"`, like ``price_consent_status``.
  public var price_increase_status: String? {
    get { self["price_increase_status"] }
    set { self["price_increase_status"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("auto_renew_product_id", \.auto_renew_product_id),
    DocumentedField("auto_renew_status", \.auto_renew_status),
    DocumentedField("expiration_intent", \.expiration_intent),
    DocumentedField("grace_period_expires_date", \.grace_period_expires_date),
    DocumentedField("grace_period_expires_date_ms", \.grace_period_expires_date_ms),
    DocumentedField("grace_period_expires_date_pst", \.grace_period_expires_date_pst),
    DocumentedField("is_in_billing_retry_period", \.is_in_billing_retry_period),
    DocumentedField("offer_code_ref_name", \.offer_code_ref_name),
    DocumentedField("original_transaction_id", \.original_transaction_id),
    DocumentedField("price_consent_status", \.price_consent_status),
    DocumentedField("product_id", \.product_id),
    DocumentedField("promotional_offer_id", \.promotional_offer_id),
    DocumentedField("price_increase_status", \.price_increase_status),
  ]
}

/// The body of a version 1 notification (App Store Server Notifications V1, `responseBodyV1`), deprecated by Apple. It
/// is not signed; only ``password`` authenticates it. Fields have Apple's spelling and types, mostly text; computed
/// properties convert them. Fields marked "Old" are from before `unified_receipt`. In bodies of that time, only they
/// carry a transaction.
public struct ResponseBodyV1: TextOrNumberObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Apple's number for the product that renews next.
  public var auto_renew_adam_id: String? {
    get { self["auto_renew_adam_id"] }
    set { self["auto_renew_adam_id"] = newValue }
  }

  /// The product that renews next.
  public var auto_renew_product_id: String? {
    get { self["auto_renew_product_id"] }
    set { self["auto_renew_product_id"] = newValue }
  }

  /// `"true"` or `"false"`; see ``autoRenewStatus``.
  public var auto_renew_status: String? {
    get { self["auto_renew_status"] }
    set { self["auto_renew_status"] = newValue }
  }

  /// The time at which ``auto_renew_status`` changed, as text in UTC.
  public var auto_renew_status_change_date: String? {
    get { self["auto_renew_status_change_date"] }
    set { self["auto_renew_status_change_date"] = newValue }
  }

  /// The time at which ``auto_renew_status`` changed, in milliseconds since 1970.
  public var auto_renew_status_change_date_ms: String? {
    get { self["auto_renew_status_change_date_ms"] }
    set { self["auto_renew_status_change_date_ms"] = newValue }
  }

  /// The time at which ``auto_renew_status`` changed, as text in Pacific time.
  public var auto_renew_status_change_date_pst: String? {
    get { self["auto_renew_status_change_date_pst"] }
    set { self["auto_renew_status_change_date_pst"] = newValue }
  }

  /// The app's bundle identifier.
  public var bid: String? {
    get { self["bid"] }
    set { self["bid"] = newValue }
  }

  /// The build of the app.
  public var bvrs: String? {
    get { self["bvrs"] }
    set { self["bvrs"] = newValue }
  }

  /// Apple's notice that version 1 is deprecated.
  public var deprecation: String? {
    get { self["deprecation"] }
    set { self["deprecation"] = newValue }
  }

  /// `Sandbox` or `PROD`; see ``appStoreEnvironment``.
  public var environment: String? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The reason the subscription expired, 1 to 5: an integer here, sometimes sent as text.
  public var expiration_intent: FlexibleInteger? {
    get { self["expiration_intent"] }
    set { self["expiration_intent"] = newValue }
  }

  /// The notification type.
  public var notification_type: NotificationTypeV1? {
    get { self["notification_type"] }
    set { self["notification_type"] = newValue }
  }

  /// The first transaction of the purchase. Some types do not have it.
  public var original_transaction_id: String? {
    get { self["original_transaction_id"] }
    set { self["original_transaction_id"] = newValue }
  }

  /// The app's shared secret. It must never be stored or logged: see ``Envelope``.
  public var password: String? {
    get { self["password"] }
    set { self["password"] = newValue }
  }

  /// The transactions.
  public var unified_receipt: UnifiedReceipt? {
    get { self["unified_receipt"] }
    set { self["unified_receipt"] = newValue }
  }

  /// Old: the time at which the transaction was refunded, as text in UTC.
  public var cancellation_date: String? {
    get { self["cancellation_date"] }
    set { self["cancellation_date"] = newValue }
  }

  /// Old: the time at which the transaction was refunded, in milliseconds since 1970.
  public var cancellation_date_ms: String? {
    get { self["cancellation_date_ms"] }
    set { self["cancellation_date_ms"] = newValue }
  }

  /// Old: the time at which the transaction was refunded, as text in Pacific time.
  public var cancellation_date_pst: String? {
    get { self["cancellation_date_pst"] }
    set { self["cancellation_date_pst"] = newValue }
  }

  /// Old: the purchase event of the refunded transaction.
  public var web_order_line_item_id: String? {
    get { self["web_order_line_item_id"] }
    set { self["web_order_line_item_id"] = newValue }
  }

  /// Old: the receipt, Base64.
  public var latest_receipt: String? {
    get { self["latest_receipt"] }
    set { self["latest_receipt"] = newValue }
  }

  /// Old: the newest transaction.
  public var latest_receipt_info: ReceiptRows? {
    get { self["latest_receipt_info"] }
    set { self["latest_receipt_info"] = newValue }
  }

  /// Old: the receipt of an expired subscription, Base64.
  public var latest_expired_receipt: String? {
    get { self["latest_expired_receipt"] }
    set { self["latest_expired_receipt"] = newValue }
  }

  /// Old: the newest transaction of an expired subscription.
  public var latest_expired_receipt_info: ReceiptRows? {
    get { self["latest_expired_receipt_info"] }
    set { self["latest_expired_receipt_info"] = newValue }
  }

  /// Old: the upcoming renewals.
  public var pending_renewal_info: [PendingRenewalInfo]? {
    get { self["pending_renewal_info"] }
    set { self["pending_renewal_info"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("auto_renew_adam_id", \.auto_renew_adam_id),
    DocumentedField("auto_renew_product_id", \.auto_renew_product_id),
    DocumentedField("auto_renew_status", \.auto_renew_status),
    DocumentedField("auto_renew_status_change_date", \.auto_renew_status_change_date),
    DocumentedField("auto_renew_status_change_date_ms", \.auto_renew_status_change_date_ms),
    DocumentedField("auto_renew_status_change_date_pst", \.auto_renew_status_change_date_pst),
    DocumentedField("bid", \.bid),
    DocumentedField("bvrs", \.bvrs),
    DocumentedField("deprecation", \.deprecation),
    DocumentedField("environment", \.environment),
    DocumentedField("expiration_intent", \.expiration_intent),
    DocumentedField("notification_type", \.notification_type),
    DocumentedField("original_transaction_id", \.original_transaction_id),
    DocumentedField("password", \.password),
    DocumentedField("unified_receipt", \.unified_receipt),
    DocumentedField("cancellation_date", \.cancellation_date),
    DocumentedField("cancellation_date_ms", \.cancellation_date_ms),
    DocumentedField("cancellation_date_pst", \.cancellation_date_pst),
    DocumentedField("web_order_line_item_id", \.web_order_line_item_id),
    DocumentedField("latest_receipt", \.latest_receipt),
    DocumentedField("latest_receipt_info", \.latest_receipt_info),
    DocumentedField("latest_expired_receipt", \.latest_expired_receipt),
    DocumentedField("latest_expired_receipt_info", \.latest_expired_receipt_info),
    DocumentedField("pending_renewal_info", \.pending_renewal_info),
  ]
}

/// The receipt of a version 1 notification (App Store Server Notifications V1, `unified_receipt`). Any field may be
/// absent.
public struct UnifiedReceipt: TextOrNumberObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// `Sandbox` or `Production`.
  public var environment: String? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The receipt, Base64.
  public var latest_receipt: String? {
    get { self["latest_receipt"] }
    set { self["latest_receipt"] = newValue }
  }

  /// At most the 100 newest transactions, in no particular order.
  public var latest_receipt_info: [LatestReceiptInfo]? {
    get { self["latest_receipt_info"] }
    set { self["latest_receipt_info"] = newValue }
  }

  /// The upcoming renewals, one for each product.
  public var pending_renewal_info: [PendingRenewalInfo]? {
    get { self["pending_renewal_info"] }
    set { self["pending_renewal_info"] = newValue }
  }

  /// 0 if the receipt is valid.
  public var status: Int64? {
    get { self["status"] }
    set { self["status"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("environment", \.environment),
    DocumentedField("latest_receipt", \.latest_receipt),
    DocumentedField("latest_receipt_info", \.latest_receipt_info),
    DocumentedField("pending_renewal_info", \.pending_renewal_info),
    DocumentedField("status", \.status),
  ]
}
