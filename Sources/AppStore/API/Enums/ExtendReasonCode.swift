/// The reason for an extension of a renewal date (App Store Server API, `extendReasonCode`).
public struct ExtendReasonCode: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = ExtendReasonCode(rawValue: 0)
  /// Customer satisfaction.
  public static let customerSatisfaction = ExtendReasonCode(rawValue: 1)
  /// Another reason.
  public static let other = ExtendReasonCode(rawValue: 2)
  /// A service issue or outage.
  public static let serviceIssueOrOutage = ExtendReasonCode(rawValue: 3)

  /// The values that Apple documents.
  public static let allKnown: [ExtendReasonCode] = [
    .undeclared, .customerSatisfaction, .other, .serviceIssueOrOutage,
  ]
}
