/// The billing plan of a transaction (App Store Server API 1.21, `billingPlanType`).
public struct BillingPlanType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Billed once for the whole commitment.
  public static let billedUpfront = BillingPlanType(rawValue: "BILLED_UPFRONT")
  /// Billed each month of the commitment.
  public static let monthly = BillingPlanType(rawValue: "MONTHLY")

  /// The values that Apple documents.
  public static let allKnown: [BillingPlanType] = [
    .billedUpfront, .monthly,
  ]
}
