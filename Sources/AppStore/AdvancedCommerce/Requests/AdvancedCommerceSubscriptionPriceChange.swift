// A change of the prices of a subscription.

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
