// A transaction of a version 1 notification.

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
