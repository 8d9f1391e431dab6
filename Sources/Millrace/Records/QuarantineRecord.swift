// A body the ingress refused, as it is kept in `millrace.quarantine`: written by the ingress, read by
// `millrace quarantine`.

public import AppStore
public import Kafka

/// A refused body with what is known of it.
public struct QuarantineRecord: Sendable, Hashable {
  /// Which endpoint it was posted to.
  public enum Version: String, Sendable, Hashable, CaseIterable {
    /// `/v1`; the value is the JSON body without `password`.
    case v1
    /// `/v2`; the value is the JWS of `signedPayload`.
    case v2

    var contentType: String { self == .v1 ? "application/json" : "application/jose" }
  }

  /// `ce_type` of these records.
  public static let type = "dev.millrace.ingress.quarantined"
  /// `ce_source` of these records.
  public static let source = "millrace/ingress"
  /// Their topic's name, before the prefix.
  public static let topic = "millrace.quarantine"

  /// The bytes, without any shared secret.
  public var value: [UInt8]
  /// Which endpoint it was posted to.
  public var version: Version
  /// Why it was refused; nil where a reader finds a reason it does not know.
  public var reason: Refusal.Reason?
  /// When it was received.
  public var receivedAt: Timestamp?
  /// Version 1: the bundle ids of the apps whose shared secret came with the body (`ce_secretof`, separated by commas);
  /// empty where that is not known.
  public var secretOf: [String]

  /// A refused body.
  public init(
    value: [UInt8], version: Version, reason: Refusal.Reason?, receivedAt: Timestamp?, secretOf: [String] = []
  ) {
    self.value = value
    self.version = version
    self.reason = reason
    self.receivedAt = receivedAt
    self.secretOf = secretOf
  }

  /// SHA-256 of the value, lower-case hexadecimal: the same body refused twice has one id.
  public var id: String { NotificationRecord.digest(of: value) }

  /// The record for Kafka: a CloudEvent in binary mode, keyed by its id.
  public func producerRecord(topic: String) -> ProducerRecord {
    var extensions = ["version": version.rawValue]
    if let reason { extensions["reason"] = reason.rawValue }
    if !secretOf.isEmpty { extensions["secretof"] = secretOf.joined(separator: ",") }
    let id = id
    let event = CloudEvent(
      id: id, source: Self.source, type: Self.type, subject: nil, time: receivedAt, contentType: version.contentType,
      extensions: extensions, traceParent: nil)
    return ProducerRecord(topic: topic, key: Array(id.utf8), value: value, headers: event.headers)
  }

  /// Reads such a record; nil where it is a tombstone or was written by somebody else.
  public init?(_ record: ConsumerRecord) {
    guard let value = record.value, Self.text("ce_type", of: record) == Self.type else { return nil }
    self.init(
      value: value, version: Self.text("ce_version", of: record).flatMap { Version(rawValue: $0) } ?? .v2,
      reason: Self.text("ce_reason", of: record).flatMap { Refusal.Reason(rawValue: $0) },
      receivedAt: Self.text("ce_time", of: record).flatMap { Timestamp(rfc3339: $0) },
      secretOf: Self.text("ce_secretof", of: record)?.split(separator: ",").map(String.init) ?? [])
  }

  private static func text(_ name: String, of record: ConsumerRecord) -> String? {
    record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) }
  }
}
