// What the customer sees of an Advanced Commerce purchase.

/// The name and description of a purchase (Advanced Commerce API, `descriptors`).
public struct AdvancedCommerceDescriptors: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
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
