// A page of the notifications of the past.

/// The answer of Get Notification History: at most 20 notifications (App Store Server API,
/// `NotificationHistoryResponse`).
public struct NotificationHistoryResponse: AppStoreObject {
  /// Everything that came, known or not.
  public var json: JSONObject

  /// A view over that object.
  public init(json: JSONObject) { self.json = json }

  /// Names the end of this page: the next call continues there, with the same body.
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
