// Version 1 bodies: unsigned JSON with the shared secret inside.
public import AppStore

/// Makes the deprecated version 1 bodies that some apps still receive, by Apple's `responseBodyV1` page.
public struct SampleNotificationsV1: Sendable {
  /// The app the bodies are about.
  public var app: SampleApp
  /// What goes into the `password` member; nil leaves the member out, as bodies of 2019 did.
  public var password: String?
  private var generator: SeededGenerator

  /// Starts the sequence that belongs to `seed`.
  public init(app: SampleApp = SampleApp(), password: String?, seed: UInt64) {
    self.app = app
    self.password = password
    generator = SeededGenerator(seed: seed)
  }

  /// The next body of that type, sent at `date`, about a subscription of its own: compact JSON, and the
  /// `original_transaction_id` that orders it.
  public mutating func next(
    _ type: NotificationTypeV1, at date: Timestamp
  ) -> (body: [UInt8], originalTransactionId: String) {
    let original = generator.digits(16, startingWith: "1000000")
    let isOff = [NotificationTypeV1.cancel, .didFailToRenew, .refund, .revoke].contains(type)
    let rows: [JSON] = (0..<3).map { period in
      .object(row(period: period, original: original, type: type, at: date))
    }
    let product = app.bundleId + ".premium.monthly"
    let pending = JSONObject(ordered: [
      "auto_renew_product_id": .string(product),
      "original_transaction_id": .string(original),
      "product_id": .string(product),
      "auto_renew_status": .string(isOff ? "0" : "1"),
      "is_in_billing_retry_period": type == .didFailToRenew ? .string("1") : nil,
      "price_consent_status": type == .priceIncreaseConsent ? .string("0") : nil,
    ])
    let receipt = JSONObject(ordered: [
      "status": .integer(0),
      "environment": .string(app.environment.rawValue),
      // Apple's rows are not in the order of purchase.
      "latest_receipt_info": .array([rows[1], rows[0], rows[2]]),
      "latest_receipt": .string("MIIUVQYJKoZIhvcNAQcCoIIURjCCFEICAQExCzAJBgUrDgMCGgUA"),
      "pending_renewal_info": .array([.object(pending)]),
    ])
    let body = JSONObject(ordered: [
      "notification_type": .string(type.rawValue),
      "password": password.map { .string($0) },
      "environment": .string(app.isProduction ? "PROD" : app.environment.rawValue),
      "original_transaction_id": .string(original),
      "auto_renew_product_id": .string(product),
      "auto_renew_status": .string(isOff ? "false" : "true"),
      "bid": .string(app.bundleId),
      "bvrs": .string("421"),
      "unified_receipt": .object(receipt),
    ])
    return (body.bytes, original)
  }

  private mutating func row(period: Int, original: String, type: NotificationTypeV1, at date: Timestamp) -> JSONObject {
    let month: Int64 = 30 * 86_400
    let purchase = date + .seconds(-3_600 - month * Int64(period))
    let isCancelled = period == 0 && [NotificationTypeV1.cancel, .refund, .revoke].contains(type)
    return JSONObject(
      Self.dates("expires_date", purchase + .seconds(month))
        + Self.dates("original_purchase_date", date + .seconds(-3_600 - month * 2))
        + Self.dates("purchase_date", purchase)
        + (isCancelled ? Self.dates("cancellation_date", date + .seconds(-60)) : [])
        + JSONObject(ordered: [
          "cancellation_reason": isCancelled ? .string("0") : nil,
          "in_app_ownership_type": .string("PURCHASED"),
          "is_in_intro_offer_period": .string("false"),
          "is_trial_period": .string("false"),
          "original_transaction_id": .string(original),
          "product_id": .string(app.bundleId + ".premium.monthly"),
          "quantity": .string("1"),
          "subscription_group_identifier": .string("21345678"),
          "transaction_id": .string(generator.digits(16, startingWith: "1000001")),
          "web_order_line_item_id": .string(generator.digits(16, startingWith: "10000000")),
        ]).members)
  }

  /// The text and the milliseconds of one date; the third form, Pacific time, is left out.
  private static func dates(_ name: String, _ date: Timestamp) -> [JSONObject.Member] {
    let text = String(date.rfc3339.prefix(19)).split(separator: "T").joined(separator: " ") + " Etc/GMT"
    return [
      JSONObject.Member(key: name, value: .string(text)),
      JSONObject.Member(key: name + "_ms", value: .string(String(date.millisecondsSince1970))),
    ]
  }
}
