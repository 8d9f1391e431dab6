// The state of a customer's subscriptions.

/// The answer of Get All Subscription Statuses (App Store Server API, `StatusResponse`).
public struct StatusResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Where the purchases were made.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The app's bundle.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The app in the App Store; absent in the sandbox.
  public var appAppleId: Int64? {
    get { self["appAppleId"] }
    set { self["appAppleId"] = newValue }
  }

  /// The subscriptions, by group.
  public var data: [SubscriptionGroupIdentifierItem]? {
    get { self["data"] }
    set { self["data"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("environment", \.environment),
    DocumentedField("bundleId", \.bundleId),
    DocumentedField("appAppleId", \.appAppleId),
    DocumentedField("data", \.data),
  ]
}
