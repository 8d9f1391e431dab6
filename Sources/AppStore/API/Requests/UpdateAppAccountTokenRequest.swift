// The account that a transaction belongs to.

/// The body of Set App Account Token (App Store Server API, `UpdateAppAccountTokenRequest`).
public struct UpdateAppAccountTokenRequest: AppStoreObject {
  /// Everything to be sent, in this order.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// A complete request, not yet checked: see ``violations()``.
  public init(
    appAccountToken: String
  ) {
    self.init()
    self.appAccountToken = appAccountToken
  }

  /// The team's own name of the account, a UUID.
  public var appAccountToken: String? {
    get { self["appAccountToken"] }
    set { self["appAccountToken"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("appAccountToken", \.appAccountToken)
  ]
}
