/// The name and description of a purchase (Advanced Commerce API, `descriptors`).
public struct AdvancedCommerceDescriptors: AdvancedCommerceDescribed {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("description", \.description, [.required, .descriptionLength]),
    DocumentedField("displayName", \.displayName, [.required, .displayNameLength]),
  ]
}
