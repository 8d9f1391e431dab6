// The body of an error response of the App Store Server API.

/// The body of an error response (App Store Server API, Error codes). Some errors have no such body: HTTP 401, and the
/// responses of edge servers.
public struct APIErrorBody: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The error code.
  public var errorCode: APIErrorCode? {
    get { self["errorCode"] }
    set { self["errorCode"] = newValue }
  }

  /// The error message, for people.
  public var errorMessage: String? {
    get { self["errorMessage"] }
    set { self["errorMessage"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("errorCode", \.errorCode),
    DocumentedField("errorMessage", \.errorMessage),
  ]
}
