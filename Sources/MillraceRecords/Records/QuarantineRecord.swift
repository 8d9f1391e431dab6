// The records of `millrace.quarantine`: bodies that the ingress refused. `millrace quarantine` reads them.

package import AppStore
package import KafkaClient

/// A refused body and its metadata.
package struct QuarantineRecord: Sendable, Hashable {
  /// The endpoint to which a body was posted.
  package enum Version: String, Sendable, Hashable, CaseIterable {
    /// `/v1`; the value is the JSON body without `password`.
    case v1
    /// `/v2`; the value is the JWS of `signedPayload`.
    case v2

    var contentType: String { self == .v1 ? "application/json" : "application/jose" }
  }

  /// The partitions of the topic. The size limit applies to each, so that neither displaces the other's records.
  package enum Partition: Int32, Sendable, Hashable, CaseIterable {
    /// Bodies whose outer part only Apple, or a client that knows a shared secret, can have created.
    case genuine = 0
    /// Bodies that anyone can create.
    case unverified = 1
  }

  /// `ce_type` of these records.
  package static let type = "dev.millrace.ingress.quarantined"
  /// `ce_source` of these records.
  package static let source = "millrace/ingress"
  /// The topic's name, without the prefix.
  package static let topic = "millrace.quarantine"

  /// The bytes, without any shared secret.
  package var value: [UInt8]
  /// The endpoint to which the body was posted.
  package var version: Version
  /// The reason of the refusal; nil if the reader does not know it.
  package var reason: Refusal.Reason?
  /// The time of receipt.
  package var receivedAt: Timestamp?
  /// Version 1: the bundle ids of the apps whose shared secret the body had (`ce_secretof`, comma-separated); empty if
  /// unknown.
  package var secretOf: [String]

  /// Creates a record.
  package init(
    value: [UInt8], version: Version, reason: Refusal.Reason?, receivedAt: Timestamp?, secretOf: [String] = []
  ) {
    self.value = value
    self.version = version
    self.reason = reason
    self.receivedAt = receivedAt
    self.secretOf = secretOf
  }

  /// The SHA-256 digest of the value, in lower-case hexadecimal. Equal bodies have the same id.
  package var id: String { NotificationRecord.digest(of: value) }

  /// The partition for the body, by its reason.
  package var partition: Partition { reason?.provesOutside == true ? .genuine : .unverified }

  /// Returns the Kafka record: a CloudEvent in binary mode, keyed by its id.
  ///
  /// - Parameter partition: The partition to write to; nil: ``partition``.
  package func producerRecord(topic: String, in partition: Partition? = nil) -> ProducerRecord {
    var extensions = ["version": version.rawValue]
    if let reason { extensions["reason"] = reason.rawValue }
    if !secretOf.isEmpty { extensions["secretof"] = secretOf.joined(separator: ",") }
    let id = id
    let event = CloudEvent(
      id: id, source: Self.source, type: Self.type, subject: nil, time: receivedAt, contentType: version.contentType,
      extensions: extensions, traceParent: nil)
    return ProducerRecord(
      topic: topic, partition: (partition ?? self.partition).rawValue, key: Array(id.utf8), value: value,
      headers: event.headers)
  }

  /// Creates a record from a Kafka record; nil for a tombstone or a record of another type.
  package init?(_ record: ConsumerRecord) {
    guard let value = record.value, record.text("ce_type") == Self.type else { return nil }
    self.init(
      value: value, version: record.text("ce_version").flatMap { Version(rawValue: $0) } ?? .v2,
      reason: record.text("ce_reason").flatMap { Refusal.Reason(rawValue: $0) },
      receivedAt: record.text("ce_time").flatMap { Timestamp(rfc3339: $0) },
      secretOf: record.text("ce_secretof")?.split(separator: ",").map(String.init) ?? [])
  }
}
