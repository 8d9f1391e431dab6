// The cancellation of a subscription.

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
