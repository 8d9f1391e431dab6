// A change of a subscription, which the app requests with StoreKit.

/// Changes a subscription: its items, its period, or its name (Advanced Commerce API,
/// `SubscriptionModifyInAppRequest`).
public struct AdvancedCommerceSubscriptionModifyInAppRequest: AdvancedCommerceInAppRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// A transaction of the subscription.
  public var transactionId: String? {
    get { self["transactionId"] }
    set { self["transactionId"] = newValue }
  }

  /// Whether the change keeps the billing cycle.
  public var retainBillingCycle: Bool? {
    get { self["retainBillingCycle"] }
    set { self["retainBillingCycle"] = newValue }
  }

  /// The items to add, at least one.
  public var addItems: [AdvancedCommerceSubscriptionModifyAddItem]? {
    get { self["addItems"] }
    set { self["addItems"] = newValue }
  }

  /// The items to change, at least one.
  public var changeItems: [AdvancedCommerceSubscriptionModifyChangeItem]? {
    get { self["changeItems"] }
    set { self["changeItems"] = newValue }
  }

  /// The items to remove.
  public var removeItems: [AdvancedCommerceSubscriptionModifyRemoveItem]? {
    get { self["removeItems"] }
    set { self["removeItems"] = newValue }
  }

  /// The new length of a period.
  public var periodChange: AdvancedCommerceSubscriptionModifyPeriodChange? {
    get { self["periodChange"] }
    set { self["periodChange"] = newValue }
  }

  /// The new name and description of the subscription.
  public var descriptors: AdvancedCommerceSubscriptionModifyDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The currency of the prices, ISO 4217.
  public var currency: String? {
    get { self["currency"] }
    set { self["currency"] = newValue }
  }

  /// The tax code.
  public var taxCode: String? {
    get { self["taxCode"] }
    set { self["taxCode"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("operation", \.operation, [.required], constant: "MODIFY_SUBSCRIPTION"),
    DocumentedField("version", \.version, [.required], constant: "1"),
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
    DocumentedField("transactionId", \.transactionId, [.required]),
    DocumentedField("retainBillingCycle", \.retainBillingCycle, [.required]),
    DocumentedField("addItems", \.addItems, [.notEmpty]),
    DocumentedField("changeItems", \.changeItems, [.notEmpty]),
    DocumentedField("removeItems", \.removeItems),
    DocumentedField("periodChange", \.periodChange),
    DocumentedField("descriptors", \.descriptors),
    DocumentedField("currency", \.currency),
    DocumentedField("taxCode", \.taxCode),
  ]
}

/// An item to add to a subscription (Advanced Commerce API, `SubscriptionModifyAddItem`). Prices are in thousandths of
/// the currency.
public struct AdvancedCommerceSubscriptionModifyAddItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The price of one period.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The offer that applies.
  public var offer: AdvancedCommerceOffer? {
    get { self["offer"] }
    set { self["offer"] = newValue }
  }

  /// The prorated price.
  public var proratedPrice: Int64? {
    get { self["proratedPrice"] }
    set { self["proratedPrice"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength]),
    DocumentedField("description", \.description, [.required, .descriptionLength]),
    DocumentedField("displayName", \.displayName, [.required, .displayNameLength]),
    DocumentedField("price", \.price, [.required]),
    DocumentedField("offer", \.offer),
    DocumentedField("proratedPrice", \.proratedPrice),
  ]
}

/// An item that replaces another one of a subscription (Advanced Commerce API, `SubscriptionModifyChangeItem`). Prices
/// are in thousandths of the currency.
public struct AdvancedCommerceSubscriptionModifyChangeItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The present identifier of the item, at most 128 characters.
  public var currentSKU: String? {
    get { self["currentSKU"] }
    set { self["currentSKU"] = newValue }
  }

  /// The price of one period.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The offer that applies.
  public var offer: AdvancedCommerceOffer? {
    get { self["offer"] }
    set { self["offer"] = newValue }
  }

  /// The prorated price.
  public var proratedPrice: Int64? {
    get { self["proratedPrice"] }
    set { self["proratedPrice"] = newValue }
  }

  /// The time at which the change takes effect.
  public var effective: AdvancedCommerceEffective? {
    get { self["effective"] }
    set { self["effective"] = newValue }
  }

  /// The reason for the change.
  public var reason: AdvancedCommerceReason? {
    get { self["reason"] }
    set { self["reason"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("currentSKU", \.currentSKU, [.required, .skuLength]),
    DocumentedField("SKU", \.SKU, [.required, .skuLength]),
    DocumentedField("description", \.description, [.required, .descriptionLength]),
    DocumentedField("displayName", \.displayName, [.required, .displayNameLength]),
    DocumentedField("price", \.price, [.required]),
    DocumentedField("offer", \.offer),
    DocumentedField("proratedPrice", \.proratedPrice),
    DocumentedField("effective", \.effective, [.required]),
    DocumentedField("reason", \.reason, [.required]),
  ]
}

/// An item to remove from a subscription (Advanced Commerce API, `SubscriptionModifyRemoveItem`).
public struct AdvancedCommerceSubscriptionModifyRemoveItem: AdvancedCommerceItem {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength])
  ]
}

/// The new length of a period (Advanced Commerce API, `SubscriptionModifyPeriodChange`).
public struct AdvancedCommerceSubscriptionModifyPeriodChange: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The length of a period.
  public var period: AdvancedCommercePeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// The time at which the change takes effect.
  public var effective: AdvancedCommerceEffective? {
    get { self["effective"] }
    set { self["effective"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("period", \.period, [.required]),
    DocumentedField("effective", \.effective, [.required]),
  ]
}

/// The new name and description of a subscription (Advanced Commerce API, `SubscriptionModifyDescriptors`).
public struct AdvancedCommerceSubscriptionModifyDescriptors: AdvancedCommerceDescribed {
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
