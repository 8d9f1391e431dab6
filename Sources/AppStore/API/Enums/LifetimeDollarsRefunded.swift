/// The total of the customer's refunds in the app on all platforms (App Store Server API, `lifetimeDollarsRefunded`;
/// Send Consumption Information V1).
public struct LifetimeDollarsRefunded: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = LifetimeDollarsRefunded(rawValue: 0)
  /// 0 USD.
  public static let zeroDollars = LifetimeDollarsRefunded(rawValue: 1)
  /// 0.01 to 49.99 USD.
  public static let oneCentToFortyNineDollarsAndNinetyNineCents = LifetimeDollarsRefunded(rawValue: 2)
  /// 50 to 99.99 USD.
  public static let fiftyDollarsToNinetyNineDollarsAndNinetyNineCents = LifetimeDollarsRefunded(rawValue: 3)
  /// 100 to 499.99 USD.
  public static let oneHundredDollarsToFourHundredNinetyNineDollarsAndNinetyNineCents = LifetimeDollarsRefunded(
    rawValue: 4)
  /// 500 to 999.99 USD.
  public static let fiveHundredDollarsToNineHundredNinetyNineDollarsAndNinetyNineCents = LifetimeDollarsRefunded(
    rawValue: 5)
  /// 1000 to 1999.99 USD.
  public static let oneThousandDollarsToOneThousandNineHundredNinetyNineDollarsAndNinetyNineCents =
    LifetimeDollarsRefunded(rawValue: 6)
  /// 2000 USD or more.
  public static let twoThousandDollarsOrGreater = LifetimeDollarsRefunded(rawValue: 7)

  /// The values that Apple documents.
  public static let allKnown: [LifetimeDollarsRefunded] = [
    .undeclared, .zeroDollars, .oneCentToFortyNineDollarsAndNinetyNineCents,
    .fiftyDollarsToNinetyNineDollarsAndNinetyNineCents,
    .oneHundredDollarsToFourHundredNinetyNineDollarsAndNinetyNineCents,
    .fiveHundredDollarsToNineHundredNinetyNineDollarsAndNinetyNineCents,
    .oneThousandDollarsToOneThousandNineHundredNinetyNineDollarsAndNinetyNineCents, .twoThousandDollarsOrGreater,
  ]
}
