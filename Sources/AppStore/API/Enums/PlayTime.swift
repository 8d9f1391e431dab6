/// The time for which the customer used the app (App Store Server API, `playTime`; Send Consumption Information V1).
public struct PlayTime: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = PlayTime(rawValue: 0)
  /// 0 to 5 minutes.
  public static let zeroToFiveMinutes = PlayTime(rawValue: 1)
  /// 5 to 60 minutes.
  public static let fiveToSixtyMinutes = PlayTime(rawValue: 2)
  /// 1 to 6 hours.
  public static let oneToSixHours = PlayTime(rawValue: 3)
  /// 6 to 24 hours.
  public static let sixHoursToTwentyFourHours = PlayTime(rawValue: 4)
  /// 1 to 4 days.
  public static let oneDayToFourDays = PlayTime(rawValue: 5)
  /// 4 to 16 days.
  public static let fourDaysToSixteenDays = PlayTime(rawValue: 6)
  /// More than 16 days.
  public static let overSixteenDays = PlayTime(rawValue: 7)

  /// The values that Apple documents.
  public static let allKnown: [PlayTime] = [
    .undeclared, .zeroToFiveMinutes, .fiveToSixtyMinutes, .oneToSixHours, .sixHoursToTwentyFourHours, .oneDayToFourDays,
    .fourDaysToSixteenDays, .overSixteenDays,
  ]
}
