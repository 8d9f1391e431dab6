// How much of an Advanced Commerce item was refunded.

/// The kind of a refund (Advanced Commerce API, `refundType`).
public struct AdvancedCommerceRefundType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The whole price.
  public static let full = AdvancedCommerceRefundType(rawValue: "FULL")
  /// The part that was not used.
  public static let prorated = AdvancedCommerceRefundType(rawValue: "PRORATED")
  /// An amount that the developer named.
  public static let custom = AdvancedCommerceRefundType(rawValue: "CUSTOM")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceRefundType] = [
    .full, .prorated, .custom,
  ]
}
