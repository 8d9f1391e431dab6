// The part of a notification that carries a token for external purchases.

/// A token for external purchases (App Store Server Notifications, `externalPurchaseToken`). It names no environment:
/// see ``environment``.
public struct ExternalPurchaseToken: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Names the token; begins with `SANDBOX` in the sandbox.
  public var externalPurchaseId: String? {
    get { self["externalPurchaseId"] }
    set { self["externalPurchaseId"] = newValue }
  }

  /// When the token was created.
  public var tokenCreationDate: Timestamp? {
    get { self["tokenCreationDate"] }
    set { self["tokenCreationDate"] = newValue }
  }

  /// The app in the App Store.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// When the token expires; only for custom links.
  public var tokenExpirationDate: Timestamp? {
    get { self["tokenExpirationDate"] }
    set { self["tokenExpirationDate"] = newValue }
  }

  /// What the token is for; only for custom links.
  public var tokenType: ExternalPurchaseTokenType? {
    get { self["tokenType"] }
    set { self["tokenType"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("externalPurchaseId", \.externalPurchaseId),
    DocumentedField("tokenCreationDate", \.tokenCreationDate),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("tokenExpirationDate", \.tokenExpirationDate),
    DocumentedField("tokenType", \.tokenType),
  ]
}
