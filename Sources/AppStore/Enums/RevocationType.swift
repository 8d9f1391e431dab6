/// The type of a revocation (App Store Server API, `revocationType`).
public struct RevocationType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A full refund.
  public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
  /// A partial refund; see `revocationPercentage`.
  public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
  /// The end of Family Sharing.
  public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")

  /// The values that Apple documents.
  public static let allKnown: [RevocationType] = [
    .refundFull, .refundProrated, .familyRevoke,
  ]
}
