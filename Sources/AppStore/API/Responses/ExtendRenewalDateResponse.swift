// A renewal date was extended, or not.

/// The answer of Extend a Subscription Renewal Date (App Store Server API, `ExtendRenewalDateResponse`).
public struct ExtendRenewalDateResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// The subscription.
  public var originalTransactionId: String? {
    get { self["originalTransactionId"] }
    set { self["originalTransactionId"] = newValue }
  }

  /// The purchase of the period that was extended.
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
