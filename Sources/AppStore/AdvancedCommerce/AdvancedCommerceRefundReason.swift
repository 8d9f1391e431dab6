/// The reason for a refund (Advanced Commerce API, `refundReason`).
public struct AdvancedCommerceRefundReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer did not intend the purchase.
  public static let unintendedPurchase = AdvancedCommerceRefundReason(rawValue: "UNINTENDED_PURCHASE")
  /// The purchase was not delivered or did not work.
  public static let fulfillmentIssue = AdvancedCommerceRefundReason(rawValue: "FULFILLMENT_ISSUE")
  /// The customer was not satisfied with the purchase.
  public static let unsatisfiedWithPurchase = AdvancedCommerceRefundReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
  /// A legal reason.
  public static let legal = AdvancedCommerceRefundReason(rawValue: "LEGAL")
  /// Another reason.
  public static let other = AdvancedCommerceRefundReason(rawValue: "OTHER")
  /// Items of the subscription were modified.
  public static let modifyItemsRefund = AdvancedCommerceRefundReason(rawValue: "MODIFY_ITEMS_REFUND")
  /// Sandbox: simulates a declined refund.
  public static let simulateRefundDecline = AdvancedCommerceRefundReason(rawValue: "SIMULATE_REFUND_DECLINE")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceRefundReason] = [
    .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other, .modifyItemsRefund,
    .simulateRefundDecline,
  ]
}
