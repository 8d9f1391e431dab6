// Which notifications of the past are asked for.

/// The body of Get Notification History, the same for every page (App Store Server API, `NotificationHistoryRequest`).
public struct NotificationHistoryRequest: AppStoreObject {
  /// Everything to be sent, in this order.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// All notifications of that time, to be narrowed down. Not yet checked: see ``violations(in:now:)``.
  public init(
    startDate: Timestamp, endDate: Timestamp
  ) {
    self.init()
    self.startDate = startDate
    self.endDate = endDate
  }

  /// From when on: at most 180 days ago, in the sandbox 30.
  public var startDate: Timestamp? {
    get { self["startDate"] }
    set { self["startDate"] = newValue }
  }

  /// Until when: later than ``startDate``.
  public var endDate: Timestamp? {
    get { self["endDate"] }
    set { self["endDate"] = newValue }
  }

  /// Only this type. Not together with ``transactionId``.
  public var notificationType: NotificationTypeV2? {
    get { self["notificationType"] }
    set { self["notificationType"] = newValue }
  }

  /// Only this subtype, of ``notificationType`` where that is given.
  public var notificationSubtype: Subtype? {
    get { self["notificationSubtype"] }
    set { self["notificationSubtype"] = newValue }
  }

  /// Only the customer of this transaction.
  public var transactionId: String? {
    get { self["transactionId"] }
    set { self["transactionId"] = newValue }
  }

  /// Only what did not reach the server, or not yet.
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
