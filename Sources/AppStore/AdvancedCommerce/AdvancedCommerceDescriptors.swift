/// The name and description of a purchase (Advanced Commerce API, `descriptors`).
public struct AdvancedCommerceDescriptors: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The description shown to the customer.
  public var description: String? {
    get { self["description"] }
    set { self["description"] = newValue }
  }

  /// The name shown to the customer.
  public var displayName: String? {
    get { self["displayName"] }
    set { self["displayName"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("description", \.description),
    DocumentedField("displayName", \.displayName),
  ]
}
