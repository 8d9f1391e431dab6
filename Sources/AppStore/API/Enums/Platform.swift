// Where the customer consumed the purchase.

/// The platform of the consumption (App Store Server API, `platform`; Send Consumption Information V1).
public struct Platform: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Any value, known or not.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = Platform(rawValue: 0)
  /// A platform of Apple.
  public static let apple = Platform(rawValue: 1)
  /// Another platform.
  public static let nonApple = Platform(rawValue: 2)

  /// The values that Apple documents.
  public static let allKnown: [Platform] = [
    .undeclared, .apple, .nonApple,
  ]
}
