// What the team would like the App Store to decide.

/// The refund that the team prefers (App Store Server API, `refundPreference`; Send Consumption Information). One of
/// several factors of the decision.
public struct RefundPreference: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// No refund.
  public static let decline = RefundPreference(rawValue: "DECLINE")
  /// The whole price.
  public static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
  /// What was not consumed.
  public static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")

  /// The values that Apple documents.
  public static let allKnown: [RefundPreference] = [
    .decline, .grantFull, .grantProrated,
  ]
}
