/// The response of Extend Subscription Renewal Dates for All Active Subscribers. Apple has started the extension, which
/// may take days (App Store Server API, `MassExtendRenewalDateResponse`).
public struct MassExtendRenewalDateResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The identifier of the request, a UUID.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("requestIdentifier", \.requestIdentifier)
  ]
}
