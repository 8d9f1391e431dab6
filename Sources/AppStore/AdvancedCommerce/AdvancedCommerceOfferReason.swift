/// The reason for an offer (Advanced Commerce API, `reason` of an offer).
public struct AdvancedCommerceOfferReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// To acquire a new customer.
  public static let acquisition = AdvancedCommerceOfferReason(rawValue: "ACQUISITION")
  /// To win a former customer back.
  public static let winBack = AdvancedCommerceOfferReason(rawValue: "WIN_BACK")
  /// To retain a customer.
  public static let retention = AdvancedCommerceOfferReason(rawValue: "RETENTION")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceOfferReason] = [
    .acquisition, .winBack, .retention,
  ]
}
