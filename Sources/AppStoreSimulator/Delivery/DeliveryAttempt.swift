// A delivery attempt with its bytes, for comparing what was sent with what arrived.

package import AppStore

/// A delivery attempt and its outcome.
package struct DeliveryAttempt: Sendable, Hashable {
  /// `notificationUUID`. Several version 1 bodies can come from one event and share it.
  package let notificationUUID: String
  /// The type and subtype, named as in ``DeliveryTally/sent``.
  package let type: String
  /// The number of the attempt, starting at 1. Deliberate duplicates do not count.
  package let number: Int
  /// Whether the notification was sent before and is deliberately sent again.
  package let isDuplicate: Bool
  /// The time of the attempt, by the scenario's clock.
  package let date: Timestamp
  /// The URL.
  package let url: String
  /// The body, UTF-8.
  package let body: [UInt8]
  /// The outcome; nil if the simulator ended before the response arrived. The receiver may have received such a
  /// notification, but no report counts it.
  package let outcome: PostOutcome?
}

extension DeliveryAttempt {
  /// The attempt as JSON, with the body as text.
  package var json: JSONObject {
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
