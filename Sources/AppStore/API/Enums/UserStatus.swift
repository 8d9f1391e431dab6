/// The status of the customer's account (App Store Server API, `userStatus`; Send Consumption Information V1).
public struct UserStatus: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: Int

  /// Creates a value, known or unknown.
  public init(rawValue: Int) { self.rawValue = rawValue }

  /// Not declared.
  public static let undeclared = UserStatus(rawValue: 0)
  /// Active.
  public static let active = UserStatus(rawValue: 1)
  /// Suspended.
  public static let suspended = UserStatus(rawValue: 2)
  /// Terminated.
  public static let terminated = UserStatus(rawValue: 3)
  /// Limited access.
  public static let limitedAccess = UserStatus(rawValue: 4)

  /// The values that Apple documents.
  public static let allKnown: [UserStatus] = [
    .undeclared, .active, .suspended, .terminated, .limitedAccess,
  ]
}
