// The migration of a subscription to the Advanced Commerce API.

/// Migrates a subscription from the In-App Purchase API (Advanced Commerce API, `SubscriptionMigrateRequest`).
public struct AdvancedCommerceSubscriptionMigrateRequest: AdvancedCommerceRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Your generic product for subscriptions in App Store Connect.
  public var targetProductId: String? {
    get { self["targetProductId"] }
    set { self["targetProductId"] = newValue }
  }

  /// The name and description of the subscription.
  public var descriptors: AdvancedCommerceSubscriptionMigrateDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The items of the subscription, at least one.
  public var items: [AdvancedCommerceSubscriptionMigrateItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// The items after the next renewal, at least one; absent if they stay the same.
  public var renewalItems: [AdvancedCommerceSubscriptionMigrateRenewalItem]? {
    get { self["renewalItems"] }
    set { self["renewalItems"] = newValue }
  }

  /// The tax code.
  public var taxCode: String? {
    get { self["taxCode"] }
    set { self["taxCode"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
    DocumentedField("targetProductId", \.targetProductId, [.required]),
    DocumentedField("descriptors", \.descriptors, [.required]),
    DocumentedField("items", \.items, [.required, .notEmpty]),
    DocumentedField("renewalItems", \.renewalItems, [.notEmpty]),
    DocumentedField("taxCode", \.taxCode, [.required]),
  ]
}

/// The name and description of a migrated subscription (Advanced Commerce API, `SubscriptionMigrateDescriptors`).
public struct AdvancedCommerceSubscriptionMigrateDescriptors: AdvancedCommerceDescribed {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("description", \.description, [.descriptionLength]),
    DocumentedField("displayName", \.displayName, [.displayNameLength]),
  ]
}

/// An item of a migrated subscription (Advanced Commerce API, `SubscriptionMigrateItem`).
public struct AdvancedCommerceSubscriptionMigrateItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength]),
    DocumentedField("description", \.description, [.required, .descriptionLength]),
    DocumentedField("displayName", \.displayName, [.required, .displayNameLength]),
  ]
}

/// An item of a migrated subscription after its next renewal (Advanced Commerce API, `SubscriptionMigrateRenewalItem`).
public struct AdvancedCommerceSubscriptionMigrateRenewalItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength]),
    DocumentedField("description", \.description, [.required, .descriptionLength]),
    DocumentedField("displayName", \.displayName, [.required, .displayNameLength]),
  ]
}
