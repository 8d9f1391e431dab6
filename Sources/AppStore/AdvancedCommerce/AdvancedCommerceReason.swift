/// The reason for a change of an item of a subscription (Advanced Commerce API, `reason`).
public struct AdvancedCommerceReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The customer moves to a higher level of service.
  public static let upgrade = AdvancedCommerceReason(rawValue: "UPGRADE")
  /// The customer moves to a lower level of service.
  public static let downgrade = AdvancedCommerceReason(rawValue: "DOWNGRADE")
  /// The customer gets an offer.
  public static let applyOffer = AdvancedCommerceReason(rawValue: "APPLY_OFFER")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceReason] = [.upgrade, .downgrade, .applyOffer]
}
