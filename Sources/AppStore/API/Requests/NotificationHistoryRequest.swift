// A request for past notifications.

/// The body of Get Notification History, the same for every page (App Store Server API, `NotificationHistoryRequest`).
public struct NotificationHistoryRequest: AppStoreObject {
  /// The JSON to send, in this order.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Creates a request for all notifications in a time range; set the filters afterwards. It is not checked yet: see
  /// ``violations(in:now:)``.
  public init(
    startDate: Timestamp, endDate: Timestamp
  ) {
    self.init()
    self.startDate = startDate
    self.endDate = endDate
  }

  /// The start of the time range: at most 180 days ago, or 30 days in the sandbox.
  public var startDate: Timestamp? {
    get { self["startDate"] }
    set { self["startDate"] = newValue }
  }

  /// The end of the time range: later than ``startDate``.
  public var endDate: Timestamp? {
    get { self["endDate"] }
    set { self["endDate"] = newValue }
  }

  /// Selects this type. Cannot be combined with ``transactionId``.
  public var notificationType: NotificationTypeV2? {
    get { self["notificationType"] }
    set { self["notificationType"] = newValue }
  }

  /// Selects this subtype, of ``notificationType`` if that is set.
  public var notificationSubtype: Subtype? {
    get { self["notificationSubtype"] }
    set { self["notificationSubtype"] = newValue }
  }

  /// Selects the customer of this transaction.
  public var transactionId: String? {
    get { self["transactionId"] }
    set { self["transactionId"] = newValue }
  }

  /// Selects notifications that have not reached the server.
  public var onlyFailures: Bool? {
    get { self["onlyFailures"] }
    set { self["onlyFailures"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("startDate", \.startDate),
    DocumentedField("endDate", \.endDate),
    DocumentedField("notificationType", \.notificationType),
    DocumentedField("notificationSubtype", \.notificationSubtype),
    DocumentedField("transactionId", \.transactionId),
    DocumentedField("onlyFailures", \.onlyFailures),
  ]
}
