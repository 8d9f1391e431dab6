/// The billing plan of a renewal (App Store Server API 1.21, `renewalBillingPlanType`).
public struct RenewalBillingPlanType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Billed once for the whole commitment.
  public static let billedUpfront = RenewalBillingPlanType(rawValue: "BILLED_UPFRONT")
  /// Billed each month of the commitment.
  public static let monthly = RenewalBillingPlanType(rawValue: "MONTHLY")

  /// The values that Apple documents.
  public static let allKnown: [RenewalBillingPlanType] = [
    .billedUpfront, .monthly,
  ]
}
