/// The length of a period of an offer, ISO 8601 (Advanced Commerce API, `period` of an offer).
public struct AdvancedCommerceOfferPeriod: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Three days.
  public static let threeDays = AdvancedCommerceOfferPeriod(rawValue: "P3D")
  /// One week.
  public static let oneWeek = AdvancedCommerceOfferPeriod(rawValue: "P1W")
  /// Two weeks.
  public static let twoWeeks = AdvancedCommerceOfferPeriod(rawValue: "P2W")
  /// One month.
  public static let oneMonth = AdvancedCommerceOfferPeriod(rawValue: "P1M")
  /// Two months.
  public static let twoMonths = AdvancedCommerceOfferPeriod(rawValue: "P2M")
  /// Three months.
  public static let threeMonths = AdvancedCommerceOfferPeriod(rawValue: "P3M")
  /// Six months.
  public static let sixMonths = AdvancedCommerceOfferPeriod(rawValue: "P6M")
  /// Nine months.
  public static let nineMonths = AdvancedCommerceOfferPeriod(rawValue: "P9M")
  /// One year.
  public static let oneYear = AdvancedCommerceOfferPeriod(rawValue: "P1Y")

  /// The values that Apple documents.
  public static let allKnown: [AdvancedCommerceOfferPeriod] = [
    .threeDays, .oneWeek, .twoWeeks, .oneMonth, .twoMonths, .threeMonths, .sixMonths, .nineMonths, .oneYear,
  ]
}
