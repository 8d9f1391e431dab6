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
  /// The ids it claims. Nothing has verified them, and anyone can post a body that claims any id.
  package var claims = Claims()

  /// Ids that a body claims.
  package struct Claims: Sendable, Hashable {
    /// The notification.
    package var notificationID: String?
    /// The first transaction of the purchase.
    package var originalTransactionID: String?
  }

  /// The number of characters of ``shownID``. `--id` needs at least half of them.
  static let shownDigits = 16

  /// The beginning of the ID, as tables and pages show it.
  package var shownID: String { String(id.prefix(Self.shownDigits)) }

  /// Whether the body claims a notification or a transaction, or has this ID itself.
  package func names(_ id: String) -> Bool {
    claims.originalTransactionID == id || claims.notificationID == id.lowercased() || self.id == id.lowercased()
  }

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
    // Only what has the form of an id is kept: a body may contain any text.
    if let claimed = view.originalTransactionId, CustomerSearch.Form(claimed) == .transaction {
      claims.originalTransactionID = claimed
    }
    if let claimed = view.payload?.text("notificationUUID"), CustomerSearch.Form(claimed) == .uuid {
      claims.notificationID = claimed.lowercased()
    }
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
    var claimed = JSONObject()
    claimed.set("notificationId", claims.notificationID)
    claimed.set("originalTransactionId", claims.originalTransactionID)
    if !claimed.members.isEmpty { json["claims"] = .object(claimed) }
    return json
  }
}
