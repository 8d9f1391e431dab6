/// The reason for an expiration (App Store Server API, `expirationIntent`; notifications V1, `expiration_intent`).
public struct ExpirationIntent: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The customer canceled.
  public static let customerCancelled = ExpirationIntent(rawValue: 1)
  /// Billing failed.
  public static let billingError = ExpirationIntent(rawValue: 2)
  /// The customer did not consent to a price increase.
  public static let customerDidNotConsentToPriceIncrease = ExpirationIntent(rawValue: 3)
  /// The product was not for sale at renewal.
  public static let productNotAvailable = ExpirationIntent(rawValue: 4)
  /// Another reason.
  public static let other = ExpirationIntent(rawValue: 5)

  /// The values that Apple documents.
  public static let allKnown: [ExpirationIntent] = [
    .customerCancelled, .billingError, .customerDidNotConsentToPriceIncrease, .productNotAvailable, .other,
  ]
}
