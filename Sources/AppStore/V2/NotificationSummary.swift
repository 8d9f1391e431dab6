// The part of a notification that sums up a renewal extension.

/// The result of an extension of the renewal date for all active subscribers (App Store Server Notifications,
/// `summary`).
public struct NotificationSummary: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Where the extension was requested.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
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

  /// The product whose subscribers were extended.
  public var productId: String? {
    get { self["productId"] }
    set { self["productId"] = newValue }
  }

  /// The identifier given with the request, a UUID.
  public var requestIdentifier: String? {
    get { self["requestIdentifier"] }
    set { self["requestIdentifier"] = newValue }
  }

  /// The storefronts of the request, ISO 3166-1 alpha-3; absent when it was for all.
  public var storefrontCountryCodes: [String]? {
    get { self["storefrontCountryCodes"] }
    set { self["storefrontCountryCodes"] = newValue }
  }

  /// How many subscriptions were extended.
  public var succeededCount: Int64? {
    get { self["succeededCount"] }
    set { self["succeededCount"] = newValue }
  }

  /// How many were not; each has a notification of its own with subtype `FAILURE`.
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
