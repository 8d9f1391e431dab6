/// The platform on which the customer consumed the purchase (App Store Server API, `platform`; Send Consumption
/// Information V1).
public struct Platform: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = Platform(rawValue: 0)
  /// An Apple platform.
  public static let apple = Platform(rawValue: 1)
  /// Another platform.
  public static let nonApple = Platform(rawValue: 2)

  /// The values that Apple documents.
  public static let allKnown: [Platform] = [
    .undeclared, .apple, .nonApple,
  ]
}
