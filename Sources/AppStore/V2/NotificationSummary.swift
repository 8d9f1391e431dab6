// The part of a notification with the result of a mass extension.

/// The result of an extension of the renewal date for all active subscribers (App Store Server Notifications,
/// `summary`).
public struct NotificationSummary: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The environment of the extension.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
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

  /// The product whose subscriptions were extended.
  public var productId: String? {
    get { self["productId"] }
    set { self["productId"] = newValue }
  }

  /// The identifier of the request, a UUID.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// The storefronts of the request, ISO 3166-1 alpha-3; absent if it applied to all.
  public var storefrontCountryCodes: [String]? {
    get { self["storefrontCountryCodes"] }
    set { self["storefrontCountryCodes"] = newValue }
  }

  /// The number of subscriptions that were extended.
  public var succeededCount: Int64? {
    get { self["succeededCount"] }
    set { self["succeededCount"] = newValue }
  }

  /// The number of subscriptions that were not extended. Each has its own notification with subtype `FAILURE`.
  public var failedCount: Int64? {
    get { self["failedCount"] }
    set { self["failedCount"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("environment", \.environment),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("productId", \.productId),
    DocumentedField("requestIdentifier", \.requestIdentifier),
    DocumentedField("storefrontCountryCodes", \.storefrontCountryCodes),
    DocumentedField("succeededCount", \.succeededCount),
    DocumentedField("failedCount", \.failedCount),
  ]
}
