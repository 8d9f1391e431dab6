// A request for refunds of items.

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
