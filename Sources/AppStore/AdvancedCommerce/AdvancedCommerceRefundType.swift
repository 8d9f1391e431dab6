/// The type of a refund (Advanced Commerce API, `refundType`).
public struct AdvancedCommerceRefundType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A full refund.
  public static let full = AdvancedCommerceRefundType(rawValue: "FULL")
  /// A refund of the unused part.
  public static let prorated = AdvancedCommerceRefundType(rawValue: "PRORATED")
  /// A refund of an amount that the developer specified.
  public static let custom = AdvancedCommerceRefundType(rawValue: "CUSTOM")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceRefundType] = [
    .full, .prorated, .custom,
  ]
}
