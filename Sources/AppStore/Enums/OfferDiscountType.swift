// How an offer is paid.

/// The payment mode of an offer (App Store Server API, `offerDiscountType`).
public struct OfferDiscountType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Free for a while.
  public static let freeTrial = OfferDiscountType(rawValue: "FREE_TRIAL")
  /// A lower price for each of some periods.
  public static let payAsYouGo = OfferDiscountType(rawValue: "PAY_AS_YOU_GO")
  /// One lower price for several periods.
  public static let payUpFront = OfferDiscountType(rawValue: "PAY_UP_FRONT")
  /// A lower price once, for a product that is no subscription.
  public static let oneTime = OfferDiscountType(rawValue: "ONE_TIME")

  /// The values that Apple documents.
  public static let allKnown: [OfferDiscountType] = [
    .freeTrial, .payAsYouGo, .payUpFront, .oneTime,
  ]
}
