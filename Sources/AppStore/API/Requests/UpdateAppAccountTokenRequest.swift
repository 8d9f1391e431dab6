// Sets the account of a transaction.

/// The body of Set App Account Token (App Store Server API, `UpdateAppAccountTokenRequest`).
public struct UpdateAppAccountTokenRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Creates a complete request. It is not checked yet: see ``violations()``.
  public init(
    appAccountToken: String
  ) {
    self.init()
    self.appAccountToken = appAccountToken
  }

  /// The team's own identifier for the account, a UUID.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("appAccountToken", \.appAccountToken)
  ]
}
