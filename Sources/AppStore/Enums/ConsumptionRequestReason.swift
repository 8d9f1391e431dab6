/// The reason a customer gave for a refund request (App Store Server Notifications, `consumptionRequestReason`).
public struct ConsumptionRequestReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer did not intend the purchase.
  public static let unintendedPurchase = ConsumptionRequestReason(rawValue: "UNINTENDED_PURCHASE")
  /// The purchase was not delivered or did not work.
  public static let fulfillmentIssue = ConsumptionRequestReason(rawValue: "FULFILLMENT_ISSUE")
  /// The customer was not satisfied with the purchase.
  public static let unsatisfiedWithPurchase = ConsumptionRequestReason(rawValue: "UNSATISFIED_WITH_PURCHASE")
  /// A legal reason.
  public static let legal = ConsumptionRequestReason(rawValue: "LEGAL")
  /// Another reason.
  public static let other = ConsumptionRequestReason(rawValue: "OTHER")

  /// The values that Apple documents.
  public static let allKnown: [ConsumptionRequestReason] = [
    .unintendedPurchase, .fulfillmentIssue, .unsatisfiedWithPurchase, .legal, .other,
  ]
}
