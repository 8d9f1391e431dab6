// The end of a subscription at once, with a refund.

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
