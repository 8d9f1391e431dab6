/// The response of Request a Test Notification (App Store Server API, `SendTestNotificationResponse`).
public struct SendTestNotificationResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Identifies the test notification in requests for its status, for six months.
  public var testNotificationToken: String? {
    get { self["testNotificationToken"] }
    set { self["testNotificationToken"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("testNotificationToken", \.testNotificationToken)
  ]
}
