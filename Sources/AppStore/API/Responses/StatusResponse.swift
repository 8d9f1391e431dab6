/// The response of Get All Subscription Statuses (App Store Server API, `StatusResponse`).
public struct StatusResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The environment of the purchases.
  public var environment: AppStoreEnvironment? {
    get { self["environment"] }
    set { self["environment"] = newValue }
  }

  /// The app's bundle identifier.
  public var bundleId: String? {
    get { self["bundleId"] }
    set { self["bundleId"] = newValue }
  }

  /// The app's Apple ID; absent in the sandbox.
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
