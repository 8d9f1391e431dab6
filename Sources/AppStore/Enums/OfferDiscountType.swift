/// The payment mode of an offer (App Store Server API, `offerDiscountType`).
public struct OfferDiscountType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A free trial.
  public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  /// A reduced price for each of several periods.
  public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  /// A single reduced price for several periods.
  public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  /// A one-time reduced price for a product that is not a subscription.
  public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")

  /// The values that Apple documents.
  public static let allKnown: [OfferDiscountType] = [
    .freeTrial, .payAsYouGo, .payUpFront, .oneTime,
  ]
}
