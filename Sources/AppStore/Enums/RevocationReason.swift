/// The reason for a refund (App Store Server API, `revocationReason`; notifications V1, `cancellation_reason`).
public struct RevocationReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Another reason, for example an accidental purchase.
  public static let refundedForOtherReason = RevocationReason(rawValue: 0)
  /// An actual or perceived issue within the app.
  public static let refundedDueToIssue = RevocationReason(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [RevocationReason] = [
    .refundedForOtherReason, .refundedDueToIssue,
  ]
}
