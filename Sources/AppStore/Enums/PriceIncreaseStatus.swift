/// The response to a price increase (App Store Server API, `priceIncreaseStatus`; notifications V1,
/// `price_consent_status`).
public struct PriceIncreaseStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The customer has not responded.
  public static let customerHasNotResponded = PriceIncreaseStatus(rawValue: 0)
  /// The customer consented, or was informed and does not need to consent.
  public static let customerConsentedOrWasNotifiedWithoutNeedingConsent = PriceIncreaseStatus(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [PriceIncreaseStatus] = [
    .customerHasNotResponded, .customerConsentedOrWasNotifiedWithoutNeedingConsent,
  ]
}
