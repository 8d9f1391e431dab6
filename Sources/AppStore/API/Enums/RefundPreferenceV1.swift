/// The team's preferred refund decision (App Store Server API, `refundPreferenceV1`; Send Consumption Information V1).
public struct RefundPreferenceV1: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = RefundPreferenceV1(rawValue: 0)
  /// A refund.
  public static let preferGrant = RefundPreferenceV1(rawValue: 1)
  /// No refund.
  public static let preferDecline = RefundPreferenceV1(rawValue: 2)
  /// No preference.
  public static let noPreference = RefundPreferenceV1(rawValue: 3)

  /// The values that Apple documents.
  public static let allKnown: [RefundPreferenceV1] = [
    .undeclared, .preferGrant, .preferDecline, .noPreference,
  ]
}
