// One refused body, however often it was posted: Apple sends the same bytes up to six times.

public import AppStore
public import Kafka
public import Millrace

/// A refused body as `millrace quarantine list` shows it.
public struct QuarantineEntry: Sendable, Hashable {
  /// SHA-256 of the body, lower-case hexadecimal.
  public var id: String
  /// Which endpoint it was posted to.
  public var version: QuarantineRecord.Version
  /// Why it was refused the last time.
  public var reason: Refusal.Reason?
  /// When it was first received, or written where it does not say.
  public var firstSeen: Timestamp?
  /// When it was last received.
  public var lastSeen: Timestamp?
  /// How often it was received.
  public var count = 1
  /// Its size in bytes.
  public var size: Int
  /// The type it claims.
  public var type: String?
  /// The app it claims to be for.
  public var bundleId: String?
  /// The environment it claims.
  public var environment: String?

  /// Looks at a quarantined record; nil where it is none.
  public init?(_ record: ConsumerRecord) {
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

  /// The same body, received again.
  mutating func add(_ other: QuarantineEntry) {
    count += other.count
    reason = other.reason ?? reason
    firstSeen = [firstSeen, other.firstSeen].compactMap { $0 }.min()
    lastSeen = [lastSeen, other.lastSeen].compactMap { $0 }.max()
  }

  /// The entry as a JSON object; what is not known is left out.
  public var json: JSONObject {
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
