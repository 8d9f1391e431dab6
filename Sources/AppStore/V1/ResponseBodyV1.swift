// The body that the App Store posts for a version 1 notification.

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
