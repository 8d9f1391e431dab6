/// The response of Get Notification History with at most 20 notifications (App Store Server API,
/// `NotificationHistoryResponse`).
public struct NotificationHistoryResponse: AppStoreObject {
  /// The object as received, including unknown fields.
  public var json: JSONObject

  /// Creates a view of a JSON object.
  public init(json: JSONObject) { self.json = json }

  /// Marks the end of this page. The next request continues there with the same body.
  public var paginationToken: String? {
    get { self["paginationToken"] }
    set { self["paginationToken"] = newValue }
  }

  /// Whether there is another page.
  public var hasMore: Bool? {
    get { self["hasMore"] }
    set { self["hasMore"] = newValue }
  }

  /// The notifications of this page.
  public var notificationHistory: [NotificationHistoryResponseItem]? {
    get { self["notificationHistory"] }
    set { self["notificationHistory"] = newValue }
  }

  /// The fields that Apple documents.
  public static let documentedFields: [DocumentedField<Self>] = [
    DocumentedField("paginationToken", \.paginationToken),
    DocumentedField("hasMore", \.hasMore),
    DocumentedField("notificationHistory", \.notificationHistory),
  ]
}
