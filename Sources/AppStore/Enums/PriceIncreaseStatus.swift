// What the customer said to a price increase.

/// The answer to a price increase (App Store Server API, `priceIncreaseStatus`; notifications V1,
/// `price_consent_status`).
public struct PriceIncreaseStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// No answer yet.
  public static let customerHasNotResponded = PriceIncreaseStatus(rawValue: 0)
  /// The customer agreed, or was told and need not agree.
  public static let customerConsentedOrWasNotifiedWithoutNeedingConsent = PriceIncreaseStatus(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [PriceIncreaseStatus] = [
    .customerHasNotResponded, .customerConsentedOrWasNotifiedWithoutNeedingConsent,
  ]
}
