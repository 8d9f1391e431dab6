// A past notification and its delivery attempts.

public import AppStore
public import AppStoreSignature

/// A notification that Apple sent or tried to send.
public struct SentNotification: Sendable {
  /// The notification. Its signature is verified.
  public let notification: VerifiedNotification
  /// The compact JWS as Apple posted it.
  public let jws: String
  /// The delivery attempts, in the order of the response.
  public let sendAttempts: [SendAttemptItem]
}

/// An unverified item of the notification history.
public struct UnverifiedNotification: Sendable, Hashable {
  /// The item as received; a JSON object if it is as documented.
  public let json: JSON

  /// An item.
  public init(json: JSON) { self.json = json }

  /// The compact JWS as Apple posted it; nil if the item has none.
  public var jws: String? { item?.signedPayload }
  /// The readable delivery attempts, in the order of the response.
  public var sendAttempts: [SendAttemptItem] { item?.sendAttempts ?? [] }

  private var item: NotificationHistoryResponseItem? {
    if case .object(let object) = json { NotificationHistoryResponseItem(json: object) } else { nil }
  }
}

extension ResponseReader {
  /// Verifies a notification and combines it with its delivery attempts.
  func sentNotification(
    _ jws: String?, of json: JSONObject, _ item: String
  ) async throws(APIError) -> SentNotification {
    let jws = try required(jws, item)
    return SentNotification(
      notification: try await notification(jws, item), jws: jws,
      sendAttempts: try elements(SendAttemptItem.self, "sendAttempts", of: json).map(\.element))
  }
}
