// What became of a test notification.

/// The answer of Get Test Notification Status (App Store Server API, `CheckTestNotificationResponse`).
public struct CheckTestNotificationResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// The notification as it was posted: a JWS whose payload is a ``ResponseBodyV2DecodedPayload``.
  public var signedPayload: String? {
    get { self["signedPayload"] }
    set { self["signedPayload"] = newValue }
  }

  /// The attempts to deliver it: the first and at most five retries.
  public var sendAttempts: [SendAttemptItem]? {
    get { self["sendAttempts"] }
    set { self["sendAttempts"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("signedPayload", \.signedPayload),
    DocumentedField("sendAttempts", \.sendAttempts),
  ]
}
