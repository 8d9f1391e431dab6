// Why a transaction was refunded.

/// The reason of a refund (App Store Server API, `revocationReason`; notifications V1, `cancellation_reason`).
public struct RevocationReason: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Another reason, an accidental purchase for instance.
  public static let refundedForOtherReason = RevocationReason(rawValue: 0)
  /// An actual or perceived issue within the app.
  public static let refundedDueToIssue = RevocationReason(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [RevocationReason] = [
    .refundedForOtherReason, .refundedDueToIssue,
  ]
}
