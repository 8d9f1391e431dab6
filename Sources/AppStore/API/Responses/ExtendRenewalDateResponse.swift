/// The response of Extend a Subscription Renewal Date (App Store Server API, `ExtendRenewalDateResponse`).
public struct ExtendRenewalDateResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The subscription.
  public var originalTransactionId: String? {
    get { self["originalTransactionId"] }
    set { self["originalTransactionId"] = newValue }
  }

  /// The purchase event of the extended period.
  public var webOrderLineItemId: String? {
    get { self["webOrderLineItemId"] }
    set { self["webOrderLineItemId"] = newValue }
  }

  /// Whether the extension took effect.
  public var success: Bool? {
    get { self["success"] }
    set { self["success"] = newValue }
  }

  /// The new expiration date.
  public var effectiveDate: Timestamp? {
    get { self["effectiveDate"] }
    set { self["effectiveDate"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("originalTransactionId", \.originalTransactionId),
    DocumentedField("webOrderLineItemId", \.webOrderLineItemId),
    DocumentedField("success", \.success),
    DocumentedField("effectiveDate", \.effectiveDate),
  ]
}
