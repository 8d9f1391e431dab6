/// The length of a subscription period, ISO 8601 (Advanced Commerce API, `period`).
public struct AdvancedCommercePeriod: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// One week.
  public static let oneWeek = AdvancedCommercePeriod(rawValue: "P1W")
  /// One month.
  public static let oneMonth = AdvancedCommercePeriod(rawValue: "P1M")
  /// Two months.
  public static let twoMonths = AdvancedCommercePeriod(rawValue: "P2M")
  /// Three months.
  public static let threeMonths = AdvancedCommercePeriod(rawValue: "P3M")
  /// Six months.
  public static let sixMonths = AdvancedCommercePeriod(rawValue: "P6M")
  /// One year.
  public static let oneYear = AdvancedCommercePeriod(rawValue: "P1Y")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommercePeriod] = [
    .oneWeek, .oneMonth, .twoMonths, .threeMonths, .sixMonths, .oneYear,
  ]
}
