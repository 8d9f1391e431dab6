/// The time at which a change of a subscription takes effect (Advanced Commerce API, `effective`).
public struct AdvancedCommerceEffective: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// At once.
  public static let immediately = AdvancedCommerceEffective(rawValue: "IMMEDIATELY")
  /// With the next billing cycle.
  public static let nextBillCycle = AdvancedCommerceEffective(rawValue: "NEXT_BILL_CYCLE")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceEffective] = [.immediately, .nextBillCycle]
}
