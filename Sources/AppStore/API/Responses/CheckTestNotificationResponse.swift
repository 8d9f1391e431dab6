/// The response of Get Test Notification Status (App Store Server API, `CheckTestNotificationResponse`).
public struct CheckTestNotificationResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The notification as posted: a JWS whose payload is a ``ResponseBodyV2DecodedPayload``.
  public var signedPayload: String? {
    get { self["signedPayload"] }
    set { self["signedPayload"] = newValue }
  }

  /// The delivery attempts: the first and at most five retries.
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
