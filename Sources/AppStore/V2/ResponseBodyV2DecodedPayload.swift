// The payload of a version 2 notification, which contains one of four parts.

/// The payload of a version 2 notification (App Store Server Notifications, `responseBodyV2DecodedPayload`). Exactly
/// one of ``data``, ``summary``, ``externalPurchaseToken`` and ``appData`` is expected.
public struct ResponseBodyV2DecodedPayload: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// The notification type.
  public var notificationType: NotificationTypeV2? {
    get { self["notificationType"] }
    set { self["notificationType"] = newValue }
  }

  /// The subtype; absent if the type has none.
  public var subtype: Subtype? {
    get { self["subtype"] }
    set { self["subtype"] = newValue }
  }

  /// Identifies the notification; the same for every delivery attempt.
  public var notificationUUID: String? {
    get { self["notificationUUID"] }
    set { self["notificationUUID"] = newValue }
  }

  /// The app and its signed transaction; for every type without one of the other three parts.
  public var data: NotificationData? {
    get { self["data"] }
    set { self["data"] = newValue }
  }

  /// The version of the format, `2.0`.
  public var version: String? {
    get { self["version"] }
    set { self["version"] = newValue }
  }

  /// The time at which Apple signed the notification; absent before 2022.
  public var signedDate: Timestamp? {
    get { self["signedDate"] }
    set { self["signedDate"] = newValue }
  }

  /// The result of an extension for all active subscribers: `RENEWAL_EXTENSION` with subtype `SUMMARY`.
  public var summary: NotificationSummary? {
    get { self["summary"] }
    set { self["summary"] = newValue }
  }

  /// The token of an `EXTERNAL_PURCHASE_TOKEN`.
  public var externalPurchaseToken: ExternalPurchaseToken? {
    get { self["externalPurchaseToken"] }
    set { self["externalPurchaseToken"] = newValue }
  }

  /// The app and its signed app transaction: `RESCIND_CONSENT`.
  public var appData: AppData? {
    get { self["appData"] }
    set { self["appData"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("notificationType", \.notificationType),
    DocumentedField("subtype", \.subtype),
    DocumentedField("notificationUUID", \.notificationUUID),
    DocumentedField("data", \.data),
    DocumentedField("version", \.version),
    DocumentedField("signedDate", \.signedDate),
    DocumentedField("summary", \.summary),
    DocumentedField("externalPurchaseToken", \.externalPurchaseToken),
    DocumentedField("appData", \.appData),
  ]
}
