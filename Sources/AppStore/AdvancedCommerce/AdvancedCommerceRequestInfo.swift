/// The metadata that every request of the Advanced Commerce API contains (`RequestInfo`).
public struct AdvancedCommerceRequestInfo: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The developer's identifier for the customer, a UUID.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// Apple's token for a consistent sequence of requests.
  public var consistencyToken: String? {
    get { self["consistencyToken"] }
    set { self["consistencyToken"] = newValue }
  }

  /// The developer's identifier for the request, a UUID.
  public var requestReferenceId: String? {
    get { self["requestReferenceId"] }
    set { self["requestReferenceId"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("appAccountToken", \.appAccountToken, [.uuid]),
    DocumentedField("consistencyToken", \.consistencyToken),
    DocumentedField("requestReferenceId", \.requestReferenceId, [.required, .uuid]),
  ]
}
