/// The total of the customer's purchases in the app on all platforms (App Store Server API, `lifetimeDollarsPurchased`;
/// Send Consumption Information V1).
public struct LifetimeDollarsPurchased: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = LifetimeDollarsPurchased(rawValue: 0)
  /// 0 USD.
  public static let zeroDollars = LifetimeDollarsPurchased(rawValue: 1)
  /// 0.01 to 49.99 USD.
  public static let oneCentToFortyNineDollarsAndNinetyNineCents = LifetimeDollarsPurchased(rawValue: 2)
  /// 50 to 99.99 USD.
  public static let fiftyDollarsToNinetyNineDollarsAndNinetyNineCents = LifetimeDollarsPurchased(rawValue: 3)
  /// 100 to 499.99 USD.
  public static let oneHundredDollarsToFourHundredNinetyNineDollarsAndNinetyNineCents = LifetimeDollarsPurchased(
    rawValue: 4)
  /// 500 to 999.99 USD.
  public static let fiveHundredDollarsToNineHundredNinetyNineDollarsAndNinetyNineCents = LifetimeDollarsPurchased(
    rawValue: 5)
  /// 1000 to 1999.99 USD.
  public static let oneThousandDollarsToOneThousandNineHundredNinetyNineDollarsAndNinetyNineCents =
    LifetimeDollarsPurchased(rawValue: 6)
  /// 2000 USD or more.
  public static let twoThousandDollarsOrGreater = LifetimeDollarsPurchased(rawValue: 7)

  /// The values that Apple documents.
  public static let allKnown: [LifetimeDollarsPurchased] = [
    .undeclared, .zeroDollars, .oneCentToFortyNineDollarsAndNinetyNineCents,
    .fiftyDollarsToNinetyNineDollarsAndNinetyNineCents,
    .oneHundredDollarsToFourHundredNinetyNineDollarsAndNinetyNineCents,
    .fiveHundredDollarsToNineHundredNinetyNineDollarsAndNinetyNineCents,
    .oneThousandDollarsToOneThousandNineHundredNinetyNineDollarsAndNinetyNineCents, .twoThousandDollarsOrGreater,
  ]
}
