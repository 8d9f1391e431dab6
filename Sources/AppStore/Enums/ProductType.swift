// What kind of product was bought.

/// The product type of a transaction (App Store Server API, `type`).
public struct ProductType: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// A subscription that renews itself.
  public static let autoRenewableSubscription = ProductType(rawValue: "Auto-Renewable Subscription")
  /// Bought once, kept for ever.
  public static let nonConsumable = ProductType(rawValue: "Non-Consumable")
  /// Bought, used up, bought again.
  public static let consumable = ProductType(rawValue: "Consumable")
  /// A subscription of fixed length.
  public static let nonRenewingSubscription = ProductType(rawValue: "Non-Renewing Subscription")

  /// The values that Apple documents.
  public static let allKnown: [ProductType] = [
    .autoRenewableSubscription, .nonConsumable, .consumable, .nonRenewingSubscription,
  ]
}
