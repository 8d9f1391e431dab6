// Whether the customer bought the product or shares it.

/// How the customer came to own a product (App Store Server API, `inAppOwnershipType`).
public struct InAppOwnershipType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Shared by a member of the family.
  public static let familyShared = InAppOwnershipType(rawValue: "FAMILY_SHARED")
  /// Bought by the customer.
  public static let purchased = InAppOwnershipType(rawValue: "PURCHASED")

  /// The values that Apple documents.
  public static let allKnown: [InAppOwnershipType] = [
    .familyShared, .purchased,
  ]
}
