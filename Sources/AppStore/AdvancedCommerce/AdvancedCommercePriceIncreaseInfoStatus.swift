/// The status of a price increase (Advanced Commerce API, `status` of a price increase).
public struct AdvancedCommercePriceIncreaseInfoStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The increase is scheduled; the customer has not been asked for consent.
  public static let scheduled = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "SCHEDULED")
  /// The customer has not responded.
  public static let pending = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "PENDING")
  /// The customer has consented or does not need to.
  public static let accepted = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "ACCEPTED")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommercePriceIncreaseInfoStatus] = [
    .scheduled, .pending, .accepted,
  ]
}
