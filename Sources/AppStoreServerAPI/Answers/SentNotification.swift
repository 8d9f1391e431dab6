// A notification of the past, and what became of it.

public import AppStore
public import AppStoreSignature

/// A notification that Apple sent or tried to send.
public struct SentNotification: Sendable {
  /// The notification; it and everything signed in it is verified.
  public let notification: VerifiedNotification
  /// The compact JWS, as it was posted.
  public let jws: String
  /// The attempts to deliver it, in the order they came in the answer.
  public let sendAttempts: [SendAttemptItem]
}

/// An item of a history as it came: nothing of it is verified.
public struct UnverifiedNotification: Sendable, Hashable {
  /// The item; an object where it is what Apple documents.
  public let json: JSON

  /// An item.
  public init(json: JSON) { self.json = json }

  /// The compact JWS, as it was posted; nil where there is none.
  public var jws: String? { item?.signedPayload }
  /// The attempts to deliver it that can be read, in the order they came.
  public var sendAttempts: [SendAttemptItem] { item?.sendAttempts ?? [] }

  private var item: NotificationHistoryResponseItem? {
    if case .object(let object) = json { NotificationHistoryResponseItem(json: object) } else { nil }
  }
}

extension ResponseReader {
  /// Verifies a notification and puts its attempts beside it.
  func sentNotification(
    _ jws: String?, _ attempts: [SendAttemptItem]?, of json: JSONObject, _ item: String
  ) async throws(APIError) -> SentNotification {
    let jws = try required(jws, item)
    return SentNotification(
      notification: try await notification(jws, item), jws: jws,
      sendAttempts: try elements(attempts, "sendAttempts", of: json))
  }
}
