// One notification of the past.

/// A notification and what became of it (App Store Server API, `notificationHistoryResponseItem`).
public struct NotificationHistoryResponseItem: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// The notification as it was posted: a JWS whose payload is a ``ResponseBodyV2DecodedPayload``.
  public var signedPayload: String? {
    get { self["signedPayload"] }
    set { self["signedPayload"] = newValue }
  }

  /// The attempts to deliver it, at most six.
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
