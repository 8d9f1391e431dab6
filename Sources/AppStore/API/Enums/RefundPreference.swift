/// The team's preferred refund decision (App Store Server API, `refundPreference`; Send Consumption Information). It is
/// one of several factors in the decision.
public struct RefundPreference: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// No refund.
  public static let decline = RefundPreference(rawValue: "DECLINE")
  /// A full refund.
  public static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
  /// A refund of the part that was not consumed.
  public static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")

  /// The values that Apple documents.
  public static let allKnown: [RefundPreference] = [
    .decline, .grantFull, .grantProrated,
  ]
}
