// One refused body, combined from all its copies: Apple posts the same bytes up to six times.

package import AppStore
package import KafkaClient
package import MillraceRecords

/// A refused body, as `millrace quarantine list` shows it.
package struct QuarantineEntry: Sendable, Hashable {
  /// The SHA-256 of the body in lower-case hexadecimal.
  package var id: String
  /// The endpoint that it was posted to.
  package var version: QuarantineRecord.Version
  /// The reason for the latest refusal.
  package var reason: Refusal.Reason?
  /// The time of the first receipt; if unknown, the time of writing.
  package var firstSeen: Timestamp?
  /// The time of the last receipt.
  package var lastSeen: Timestamp?
  /// The number of copies. A process keeps one copy per hour, however often the body is posted.
  package var count = 1
  /// The size in bytes.
  package var size: Int
  /// The type it claims.
  package var type: String?
  /// The app it claims to be for.
  package var bundleId: String?
  /// The environment it claims.
  package var environment: String?

  /// Reads a quarantined record; nil if the record is not one.
  package init?(_ record: ConsumerRecord) {
    guard let quarantined = QuarantineRecord(record) else { return nil }
    let view = RecordView(record)
    id = quarantined.id
    version = quarantined.version
    reason = quarantined.reason
    firstSeen = quarantined.receivedAt ?? record.timestamp.map { Timestamp(millisecondsSince1970: $0) }
    lastSeen = firstSeen
    size = quarantined.value.count
    type = view.subtype.map { "\(view.type ?? "")/\($0)" } ?? view.type
    bundleId = view.bundleId
    environment = view.environment
  }

  /// Adds another copy of the same body.
  mutating func add(_ other: QuarantineEntry) {
    count += other.count
    reason = other.reason ?? reason
    firstSeen = [firstSeen, other.firstSeen].compactMap { $0 }.min()
    lastSeen = [lastSeen, other.lastSeen].compactMap { $0 }.max()
  }

  /// The entry as a JSON object; unknown values are omitted.
  package var json: JSONObject {
    var json: JSONObject = ["id": .string(id), "version": .string(version.rawValue)]
    json.set("reason", reason?.rawValue)
    json.set("firstSeen", firstSeen?.rfc3339)
    json.set("lastSeen", lastSeen?.rfc3339)
    json["count"] = .integer(Int64(count))
    json["size"] = .integer(Int64(size))
    json.set("type", type)
    json.set("bundleId", bundleId)
    json.set("environment", environment)
    return json
  }
}
