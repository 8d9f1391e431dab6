// An upcoming renewal in a version 1 notification.

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
