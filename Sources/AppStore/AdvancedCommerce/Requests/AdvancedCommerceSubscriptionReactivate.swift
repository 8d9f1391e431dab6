// The reactivation of a subscription, which the app requests with StoreKit.

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
