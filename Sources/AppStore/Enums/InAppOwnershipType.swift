/// How the customer obtained a product (App Store Server API, `inAppOwnershipType`).
public struct InAppOwnershipType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Shared through Family Sharing.
  public static let familyShared = InAppOwnershipType(rawValue: "FAMILY_SHARED")
  /// Purchased by the customer.
  public static let purchased = InAppOwnershipType(rawValue: "PURCHASED")

  /// The values that Apple documents.
  public static let allKnown: [InAppOwnershipType] = [
    .familyShared, .purchased,
  ]
}
