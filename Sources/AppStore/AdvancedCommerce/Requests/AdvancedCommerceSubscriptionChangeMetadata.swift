// A change of the names, descriptions and identifiers of a subscription.

/// Changes the names, descriptions and identifiers of a subscription (Advanced Commerce API,
/// `SubscriptionChangeMetadataRequest`).
public struct AdvancedCommerceSubscriptionChangeMetadataRequest: AdvancedCommerceRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The new name and description of the subscription.
  public var descriptors: AdvancedCommerceSubscriptionChangeMetadataDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The items to change, at least one.
  public var items: [AdvancedCommerceSubscriptionChangeMetadataItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
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
    DocumentedField("descriptors", \.descriptors),
    DocumentedField("items", \.items, [.notEmpty]),
    DocumentedField("taxCode", \.taxCode),
  ]
}

/// The new name and description of a subscription (Advanced Commerce API, `SubscriptionChangeMetadataDescriptors`).
public struct AdvancedCommerceSubscriptionChangeMetadataDescriptors: AdvancedCommerceDescribed {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The time at which the change takes effect.
  public var effective: AdvancedCommerceEffective? {
    get { self["effective"] }
    set { self["effective"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("description", \.description, [.descriptionLength]),
    DocumentedField("displayName", \.displayName, [.displayNameLength]),
    DocumentedField("effective", \.effective, [.required]),
  ]
}

/// The new name, description and identifier of an item (Advanced Commerce API, `SubscriptionChangeMetadataItem`).
public struct AdvancedCommerceSubscriptionChangeMetadataItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The present identifier of the item, at most 128 characters.
  public var currentSKU: String? {
    get { self["currentSKU"] }
    set { self["currentSKU"] = newValue }
  }

  /// The time at which the change takes effect.
  public var effective: AdvancedCommerceEffective? {
    get { self["effective"] }
    set { self["effective"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("currentSKU", \.currentSKU, [.required, .skuLength]),
    DocumentedField("SKU", \.SKU, [.skuLength]),
    DocumentedField("description", \.description, [.descriptionLength]),
    DocumentedField("displayName", \.displayName, [.displayNameLength]),
    DocumentedField("effective", \.effective, [.required]),
  ]
}
