// What renews of an Advanced Commerce subscription.

/// The Advanced Commerce part of renewal information (Advanced Commerce API, `AdvancedCommerceRenewalInfo`).
public struct AdvancedCommerceRenewalInfo: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Names the state of the subscription, for requests that change it.
  public var consistencyToken: String? {
    get { self["consistencyToken"] }
    set { self["consistencyToken"] = newValue }
  }

  /// What the customer sees.
  public var descriptors: AdvancedCommerceDescriptors? {
    get { self["descriptors"] }
    set { self["descriptors"] = newValue }
  }

  /// The items that renew.
  public var items: [AdvancedCommerceRenewalItem]? {
    get { self["items"] }
    set { self["items"] = newValue }
  }

  /// How long a period is.
  public var period: AdvancedCommercePeriod? {
    get { self["period"] }
    set { self["period"] = newValue }
  }

  /// The identifier that the developer gave with the request, a UUID.
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
