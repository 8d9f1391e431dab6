/// The type of an offer (App Store Server API, `offerType`).
public struct OfferType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// An introductory offer.
  public static let introductoryOffer = OfferType(rawValue: 1)
  /// A promotional offer.
  public static let promotionalOffer = OfferType(rawValue: 2)
  /// An offer code.
  public static let offerCode = OfferType(rawValue: 3)
  /// A win-back offer.
  public static let winBackOffer = OfferType(rawValue: 4)

  /// The values that Apple documents.
  public static let allKnown: [OfferType] = [
    .introductoryOffer, .promotionalOffer, .offerCode, .winBackOffer,
  ]
}
