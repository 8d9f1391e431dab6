// The extension for everybody has begun.

/// The answer of Extend Subscription Renewal Dates for All Active Subscribers: Apple has begun, and may take days (App
/// Store Server API, `MassExtendRenewalDateResponse`).
public struct MassExtendRenewalDateResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
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
