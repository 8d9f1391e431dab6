/// The status of an auto-renewable subscription at `signedDate` (App Store Server Notifications, `status`).
public struct Status: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Active.
  public static let active = Status(rawValue: 1)
  /// Expired.
  public static let expired = Status(rawValue: 2)
  /// In the billing retry period; the customer has no access.
  public static let billingRetry = Status(rawValue: 3)
  /// In the billing grace period; the customer keeps access.
  public static let billingGracePeriod = Status(rawValue: 4)
  /// Revoked: refunded or no longer shared through Family Sharing.
  public static let revoked = Status(rawValue: 5)

  /// The values that Apple documents.
  public static let allKnown: [Status] = [
    .active, .expired, .billingRetry, .billingGracePeriod, .revoked,
  ]
}
