/// The Advanced Commerce part of renewal info (Advanced Commerce API, `AdvancedCommerceRenewalInfo`).
public struct AdvancedCommerceRenewalInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Identifies the state of the subscription in requests that change it.
  public var consistencyToken: String? {
    get { self["consistencyToken"] }
    set { self["consistencyToken"] = newValue }
  }

  /// The name and description shown to the customer.
  public var descriptors: AdvancedCommerceDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The items that renew.
  public var items: [AdvancedCommerceRenewalItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// The length of a period.
  public var period: AdvancedCommercePeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// The developer's identifier for the request, a UUID.
  public var requestReferenceId: String? {
    get { self["requestReferenceId"] }
    set { self["requestReferenceId"] = newValue }
  }

  /// The tax code of the subscription.
  public var taxCode: String? {
    get { self["taxCode"] }
    set { self["taxCode"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("consistencyToken", \.consistencyToken),
    DocumentedField("descriptors", \.descriptors),
    DocumentedField("items", \.items),
    DocumentedField("period", \.period),
    DocumentedField("requestReferenceId", \.requestReferenceId),
    DocumentedField("taxCode", \.taxCode),
  ]
}
