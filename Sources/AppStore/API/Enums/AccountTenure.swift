/// The age of the customer's account (App Store Server API, `accountTenure`; Send Consumption Information V1).
public struct AccountTenure: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = AccountTenure(rawValue: 0)
  /// 0 to 3 days.
  public static let zeroToThreeDays = AccountTenure(rawValue: 1)
  /// 3 to 10 days.
  public static let threeDaysToTenDays = AccountTenure(rawValue: 2)
  /// 10 to 30 days.
  public static let tenDaysToThirtyDays = AccountTenure(rawValue: 3)
  /// 30 to 90 days.
  public static let thirtyDaysToNinetyDays = AccountTenure(rawValue: 4)
  /// 90 to 180 days.
  public static let ninetyDaysToOneHundredEightyDays = AccountTenure(rawValue: 5)
  /// 180 to 365 days.
  public static let oneHundredEightyDaysToThreeHundredSixtyFiveDays = AccountTenure(rawValue: 6)
  /// More than 365 days.
  public static let greaterThanThreeHundredSixtyFiveDays = AccountTenure(rawValue: 7)

  /// The values that Apple documents.
  public static let allKnown: [AccountTenure] = [
    .undeclared, .zeroToThreeDays, .threeDaysToTenDays, .tenDaysToThirtyDays, .thirtyDaysToNinetyDays,
    .ninetyDaysToOneHundredEightyDays, .oneHundredEightyDaysToThreeHundredSixtyFiveDays,
    .greaterThanThreeHundredSixtyFiveDays,
  ]
}
