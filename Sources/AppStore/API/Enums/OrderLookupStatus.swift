/// The result of an order lookup (App Store Server API, `OrderLookupStatus`).
public struct OrderLookupStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The order belongs to this app; the response contains its transactions.
  public static let valid = OrderLookupStatus(rawValue: 0)
  /// There is no such order, or it does not belong to this app.
  public static let invalid = OrderLookupStatus(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [OrderLookupStatus] = [
    .valid, .invalid,
  ]
}
