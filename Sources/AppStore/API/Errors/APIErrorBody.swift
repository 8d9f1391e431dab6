// What the App Store Server API says when it refuses.

/// The body of an answer that is an error (App Store Server API, Error codes). Some errors come without it: HTTP 401,
/// and what edge servers answer.
public struct APIErrorBody: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// What went wrong.
  public var errorCode: APIErrorCode? {
    get { self["errorCode"] }
    set { self["errorCode"] = newValue }
  }

  /// The same in words, for people.
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
