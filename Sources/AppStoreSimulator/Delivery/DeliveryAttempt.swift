// One attempt to deliver with its bytes, for whoever has to compare what was sent with what arrived.

public import AppStore

/// An attempt to deliver a notification, and how it ended.
public struct DeliveryAttempt: Sendable, Hashable {
  /// `notificationUUID`; several bodies of version 1 can come from one event and share it.
  public let notificationUUID: String
  /// Type and subtype as ``DeliveryTally/sent`` names them.
  public let type: String
  /// From 1; what is sent twice on purpose does not count.
  public let number: Int
  /// Whether it was sent before and is sent once more on purpose.
  public let isDuplicate: Bool
  /// When, in the scenario's time.
  public let date: Timestamp
  /// Where to.
  public let url: String
  /// The body, byte for byte; UTF-8.
  public let body: [UInt8]
  /// How it ended. Nil: the simulator ended before the answer came; the receiver may have it, and no report counts it.
  public let outcome: PostOutcome?
}

extension DeliveryAttempt {
  /// The attempt as JSON, the body as text.
  public var json: JSONObject {
    var json: JSONObject = [
      "notificationUUID": .string(notificationUUID), "type": .string(type), "attempt": .integer(Int64(number)),
      "duplicate": .bool(isDuplicate), "date": .string(date.rfc3339), "url": .string(url),
    ]
    json["status"] = (outcome?.status).map { .integer(Int64($0)) }
    json["result"] = (outcome?.result).map { .string($0.rawValue) }
    json["body"] = .string(String(decoding: body, as: UTF8.self))
    return json
  }
}
