// A one-time charge, which the app requests with StoreKit.

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
