// What a revocation took away.

/// The kind of a revocation (App Store Server API, `revocationType`).
public struct RevocationType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Refunded in full.
  public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
  /// Refunded in part; see `revocationPercentage`.
  public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
  /// No longer shared by the family.
  public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")

  /// The values that Apple documents.
  public static let allKnown: [RevocationType] = [
    .refundFull, .refundProrated, .familyRevoke,
  ]
}
