// Version 1 bodies: unsigned JSON that contains the shared secret.
public import AppStore

/// Creates the deprecated version 1 bodies that some apps still receive, according to Apple's `responseBodyV1` page.
public struct SampleNotificationsV1: Sendable {
  /// The app in the bodies.
  public var app: SampleApp
  /// The value of the `password` member; nil omits it, as in bodies of 2019.
  public var password: String?
  private var generator: SeededGenerator

  /// Starts the sequence for `seed`.
  public init(app: SampleApp = SampleApp(), password: String?, seed: UInt64) {
    self.app = app
    self.password = password
    generator = SeededGenerator(seed: seed)
  }

  /// Returns the next body of a type, sent at `date`, about a new subscription. The body is compact JSON; the
  /// `original_transaction_id` is its ordering key.
  public mutating func next(
    _ type: NotificationTypeV1, at date: Timestamp
  ) -> (body: [UInt8], originalTransactionId: String) {
    let original = generator.digits(16, startingWith: "1000000")
    let isOff = [NotificationTypeV1.cancel, .didFailToRenew, .refund, .revoke].contains(type)
    let rows = (0..<3).map { period in row(period: period, original: original, type: type, at: date) }
    let product = app.bundleId + ".premium.monthly"
    var pending = PendingRenewalRow(productId: product, originalTransactionId: original, renews: !isOff)
    pending.isInBillingRetryPeriod = type == .didFailToRenew ? true : nil
    pending.priceConsentStatus = type == .priceIncreaseConsent ? .customerHasNotResponded : nil
    // Apple's rows are not in the order of purchase.
    let body = bodyV1(
      app.payload, type: type, password: password, pending: pending, rows: [rows[1], rows[0], rows[2]])
    return (body.bytes, original)
  }

  private mutating func row(period: Int, original: String, type: NotificationTypeV1, at date: Timestamp) -> ReceiptRow {
    let month: Int64 = 30 * 86_400
    let purchase = date + .seconds(-3_600 - month * Int64(period))
    var row = ReceiptRow(
      originalTransactionId: original, transactionId: generator.digits(16, startingWith: "1000001"),
      productId: app.bundleId + ".premium.monthly", purchaseDate: purchase,
      originalPurchaseDate: date + .seconds(-3_600 - month * 2), ownership: .purchased)
    row.expiresDate = purchase + .seconds(month)
    row.subscriptionGroupIdentifier = "21345678"
    row.webOrderLineItemId = generator.digits(16, startingWith: "10000000")
    if period == 0, [NotificationTypeV1.cancel, .refund, .revoke].contains(type) {
      row.cancellation = (date + .seconds(-60), .refundedForOtherReason)
    }
    return row
  }
}
