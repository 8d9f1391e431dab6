/// The product type of a transaction (App Store Server API, `type`).
public struct ProductType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A subscription that renews automatically.
  public static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
  /// A product that is purchased once and does not expire.
  public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
  /// A product that is used up and can be purchased again.
  public static let consumable = ProductType(rawValue: "Consumable")
  /// A subscription with a fixed length.
  public static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")

  /// The values that Apple documents.
  public static let allKnown: [ProductType] = [
    .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
  ]
}
