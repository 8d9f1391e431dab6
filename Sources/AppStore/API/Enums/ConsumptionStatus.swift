// How much of the purchase was consumed.

/// The extent to which the customer consumed the purchase (App Store Server API, `consumptionStatus`; Send Consumption
/// Information V1).
public struct ConsumptionStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = ConsumptionStatus(rawValue: 0)
  /// Nothing.
  public static let notConsumed = ConsumptionStatus(rawValue: 1)
  /// A part.
  public static let partiallyConsumed = ConsumptionStatus(rawValue: 2)
  /// All.
  public static let fullyConsumed = ConsumptionStatus(rawValue: 3)

  /// The values that Apple documents.
  public static let allKnown: [ConsumptionStatus] = [
    .undeclared, .notConsumed, .partiallyConsumed, .fullyConsumed,
  ]
}
