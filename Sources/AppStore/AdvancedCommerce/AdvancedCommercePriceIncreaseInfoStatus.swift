// How far an Advanced Commerce price increase is.

/// The state of a price increase (Advanced Commerce API, `status` of a price increase).
public struct AdvancedCommercePriceIncreaseInfoStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Scheduled, the customer has not been asked.
  public static let scheduled = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "SCHEDULED")
  /// The customer has not answered.
  public static let pending = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "PENDING")
  /// The customer agreed, or need not.
  public static let accepted = AdvancedCommercePriceIncreaseInfoStatus(rawValue: "ACCEPTED")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommercePriceIncreaseInfoStatus] = [
    .scheduled, .pending, .accepted,
  ]
}
