// A test notification is on its way.

/// The answer of Request a Test Notification (App Store Server API, `SendTestNotificationResponse`).
public struct SendTestNotificationResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Names the test notification when its status is asked for, for six months.
  public var testNotificationToken: String? {
    get { self["testNotificationToken"] }
    set { self["testNotificationToken"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("testNotificationToken", \.testNotificationToken)
  ]
}
