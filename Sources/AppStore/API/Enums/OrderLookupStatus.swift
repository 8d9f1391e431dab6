// Whether an order id is one.

/// The answer to an order id (App Store Server API, `OrderLookupStatus`).
public struct OrderLookupStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// The order is one of this app; its transactions come with the answer.
  public static let valid = OrderLookupStatus(rawValue: 0)
  /// There is no such order, or not of this app.
  public static let invalid = OrderLookupStatus(rawValue: 1)

  /// The values that Apple documents.
  public static let allKnown: [OrderLookupStatus] = [
    .valid, .invalid,
  ]
}
