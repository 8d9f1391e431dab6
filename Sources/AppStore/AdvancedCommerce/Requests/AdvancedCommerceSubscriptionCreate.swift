// A new subscription, which the app requests with StoreKit.

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
