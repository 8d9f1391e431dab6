// The part of a notification with a token for external purchases.

/// A token for external purchases (App Store Server Notifications, `externalPurchaseToken`). It has no field for the
/// environment: see ``environment``.
public struct ExternalPurchaseToken: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Identifies the token; begins with `SANDBOX` in the sandbox.
  public var externalPurchaseId: String? {
    get { self["externalPurchaseId"] }
    set { self["externalPurchaseId"] = newValue }
  }

  /// The time at which the token was created.
  public var tokenCreationDate: Timestamp? {
    get { self["tokenCreationDate"] }
    set { self["tokenCreationDate"] = newValue }
  }

  /// The app's Apple ID.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The time at which the token expires; only for custom links.
  public var tokenExpirationDate: Timestamp? {
    get { self["tokenExpirationDate"] }
    set { self["tokenExpirationDate"] = newValue }
  }

  /// The type of the token; only for custom links.
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
