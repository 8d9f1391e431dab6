/// The renewal status of a subscription (App Store Server API, `autoRenewStatus`).
public struct AutoRenewStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Auto-renewal is off.
  public static let off = AutoRenewStatus(rawValue: 0)
  /// Auto-renewal is on.
  public static let on = AutoRenewStatus(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [AutoRenewStatus] = [
    .off, .on,
  ]
}
