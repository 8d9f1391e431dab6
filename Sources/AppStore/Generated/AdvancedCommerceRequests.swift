// Written from Sources/AppStore/Fields/AdvancedCommerceRequests.md by `scripts/check types --write`.

/// Creates a one-time charge (Advanced Commerce API, `OneTimeChargeCreateRequest`).
public struct AdvancedCommerceOneTimeChargeCreateRequest: AdvancedCommerceInAppRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The currency of the prices, ISO 4217.
  public var currency: String? {
    get { self["currency"] }
    set { self["currency"] = newValue }
  }

  /// The item to sell.
  public var item: AdvancedCommerceOneTimeChargeItem? {
    get { self["item"] }
    set { self["item"] = newValue }
  }

  /// The tax code.
  public var taxCode: String? {
    get { self["taxCode"] }
    set { self["taxCode"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("operation", \.operation, [.required], constant: "CREATE_ONE_TIME_CHARGE"),
    DocumentedField("version", \.version, [.required], constant: "1"),
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
    DocumentedField("currency", \.currency, [.required]),
    DocumentedField("item", \.item, [.required]),
    DocumentedField("taxCode", \.taxCode, [.required]),
  ]
}

/// The item of a one-time charge (Advanced Commerce API, `OneTimeChargeItem`). Prices are in thousandths of the
/// currency.
public struct AdvancedCommerceOneTimeChargeItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The price.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength]),
    DocumentedField("description", \.description, [.required, .descriptionLength]),
    DocumentedField("displayName", \.displayName, [.required, .displayNameLength]),
    DocumentedField("price", \.price, [.required]),
  ]
}

/// Requests refunds of items of a transaction (Advanced Commerce API, `RequestRefundRequest`).
public struct AdvancedCommerceRequestRefundRequest: AdvancedCommerceRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The currency of the prices, ISO 4217.
  public var currency: String? {
    get { self["currency"] }
    set { self["currency"] = newValue }
  }

  /// The items to refund, at least one.
  public var items: [AdvancedCommerceRequestRefundItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// Whether Apple sends a CONSUMPTION_REQUEST before it decides.
  public var refundRiskingPreference: Bool? {
    get { self["refundRiskingPreference"] }
    set { self["refundRiskingPreference"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
    DocumentedField("currency", \.currency),
    DocumentedField("items", \.items, [.required, .notEmpty]),
    DocumentedField("refundRiskingPreference", \.refundRiskingPreference, [.required]),
  ]
}

/// An item to refund (Advanced Commerce API, `RequestRefundItem`). Amounts are in thousandths of the currency.
public struct AdvancedCommerceRequestRefundItem: AdvancedCommerceItem {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The reason for the refund.
  public var refundReason: AdvancedCommerceRefundReason? {
    get { self["refundReason"] }
    set { self["refundReason"] = newValue }
  }

  /// The type of the refund.
  public var refundType: AdvancedCommerceRefundType? {
    get { self["refundType"] }
    set { self["refundType"] = newValue }
  }

  /// The requested amount of a custom refund.
  public var refundAmount: Int64? {
    get { self["refundAmount"] }
    set { self["refundAmount"] = newValue }
  }

  /// Whether the customer loses the item.
  public var revoke: Bool? {
    get { self["revoke"] }
    set { self["revoke"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength]),
    DocumentedField("refundReason", \.refundReason, [.required]),
    DocumentedField("refundType", \.refundType, [.required]),
    DocumentedField("refundAmount", \.refundAmount),
    DocumentedField("revoke", \.revoke, [.required]),
  ]
}

/// Turns the renewal of a subscription off (Advanced Commerce API, `SubscriptionCancelRequest`).
public struct AdvancedCommerceSubscriptionCancelRequest: AdvancedCommerceRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
  ]
}

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

/// Creates a subscription (Advanced Commerce API, `SubscriptionCreateRequest`).
public struct AdvancedCommerceSubscriptionCreateRequest: AdvancedCommerceInAppRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The currency of the prices, ISO 4217.
  public var currency: String? {
    get { self["currency"] }
    set { self["currency"] = newValue }
  }

  /// The name and description of the subscription.
  public var descriptors: AdvancedCommerceDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The items of the subscription, at least one.
  public var items: [AdvancedCommerceSubscriptionCreateItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// The length of a period.
  public var period: AdvancedCommercePeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// A transaction of a previous subscription of the customer.
  public var previousTransactionId: String? {
    get { self["previousTransactionId"] }
    set { self["previousTransactionId"] = newValue }
  }

  /// The tax code.
  public var taxCode: String? {
    get { self["taxCode"] }
    set { self["taxCode"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("operation", \.operation, [.required], constant: "CREATE_SUBSCRIPTION"),
    DocumentedField("version", \.version, [.required], constant: "1"),
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
    DocumentedField("currency", \.currency, [.required]),
    DocumentedField("descriptors", \.descriptors, [.required]),
    DocumentedField("items", \.items, [.required, .notEmpty]),
    DocumentedField("period", \.period, [.required]),
    DocumentedField("previousTransactionId", \.previousTransactionId),
    DocumentedField("taxCode", \.taxCode, [.required]),
  ]
}

/// An item of a new subscription (Advanced Commerce API, `SubscriptionCreateItem`). Prices are in thousandths of the
/// currency.
public struct AdvancedCommerceSubscriptionCreateItem: AdvancedCommerceItem, AdvancedCommerceDescribed {
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

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength]),
    DocumentedField("description", \.description, [.required, .descriptionLength]),
    DocumentedField("displayName", \.displayName, [.required, .displayNameLength]),
    DocumentedField("price", \.price, [.required]),
    DocumentedField("offer", \.offer),
  ]
}

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

/// Changes the prices of items (Advanced Commerce API, `SubscriptionPriceChangeRequest`).
public struct AdvancedCommerceSubscriptionPriceChangeRequest: AdvancedCommerceRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The currency of the prices, ISO 4217.
  public var currency: String? {
    get { self["currency"] }
    set { self["currency"] = newValue }
  }

  /// The items with new prices, at least one.
  public var items: [AdvancedCommerceSubscriptionPriceChangeItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
    DocumentedField("currency", \.currency),
    DocumentedField("items", \.items, [.required, .notEmpty]),
  ]
}

/// The new price of an item (Advanced Commerce API, `SubscriptionPriceChangeItem`). Prices are in thousandths of the
/// currency.
public struct AdvancedCommerceSubscriptionPriceChangeItem: AdvancedCommerceItem {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The price of one period.
  public var price: Int64? {
    get { self["price"] }
    set { self["price"] = newValue }
  }

  /// The items whose prices depend on this one, each at most 128 characters.
  public var dependentSKUs: [String]? {
    get { self["dependentSKUs"] }
    set { self["dependentSKUs"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength]),
    DocumentedField("price", \.price, [.required]),
    DocumentedField("dependentSKUs", \.dependentSKUs, [.skuLength]),
  ]
}

/// Turns the renewal of a subscription on again (Advanced Commerce API, `SubscriptionReactivateInAppRequest`).
public struct AdvancedCommerceSubscriptionReactivateInAppRequest: AdvancedCommerceInAppRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// A transaction of the subscription.
  public var transactionId: String? {
    get { self["transactionId"] }
    set { self["transactionId"] = newValue }
  }

  /// The items to reactivate.
  public var items: [AdvancedCommerceSubscriptionReactivateItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("operation", \.operation, [.required], constant: "REACTIVATE_SUBSCRIPTION"),
    DocumentedField("version", \.version, [.required], constant: "1"),
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
    DocumentedField("transactionId", \.transactionId, [.required]),
    DocumentedField("items", \.items),
  ]
}

/// An item to reactivate (Advanced Commerce API, `SubscriptionReactivateItem`).
public struct AdvancedCommerceSubscriptionReactivateItem: AdvancedCommerceItem {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("SKU", \.SKU, [.required, .skuLength])
  ]
}

/// Ends a subscription and refunds it (Advanced Commerce API, `SubscriptionRevokeRequest`).
public struct AdvancedCommerceSubscriptionRevokeRequest: AdvancedCommerceRequest {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The reason for the refund.
  public var refundReason: AdvancedCommerceRefundReason? {
    get { self["refundReason"] }
    set { self["refundReason"] = newValue }
  }

  /// The type of the refund.
  public var refundType: AdvancedCommerceRefundType? {
    get { self["refundType"] }
    set { self["refundType"] = newValue }
  }

  /// Whether Apple sends a CONSUMPTION_REQUEST before it decides.
  public var refundRiskingPreference: Bool? {
    get { self["refundRiskingPreference"] }
    set { self["refundRiskingPreference"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestInfo", \.requestInfo, [.required]),
    DocumentedField("storefront", \.storefront),
    DocumentedField("refundReason", \.refundReason, [.required]),
    DocumentedField("refundType", \.refundType, [.required]),
    DocumentedField("refundRiskingPreference", \.refundRiskingPreference, [.required]),
  ]
}
