/// The extent to which the customer consumed the purchase (App Store Server API, `consumptionStatus`; Send Consumption
/// Information V1).
public struct ConsumptionStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = ConsumptionStatus(rawValue: 0)
  /// Not consumed.
  public static let notConsumed = ConsumptionStatus(rawValue: 1)
  /// Partially consumed.
  public static let partiallyConsumed = ConsumptionStatus(rawValue: 2)
  /// Fully consumed.
  public static let fullyConsumed = ConsumptionStatus(rawValue: 3)

  /// The values that Apple documents.
  public static let allKnown: [ConsumptionStatus] = [
    .undeclared, .notConsumed, .partiallyConsumed, .fullyConsumed,
  ]
}
