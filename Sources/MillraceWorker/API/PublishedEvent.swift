// An event that another worker published, as the input of a worker that reads topics of events.

package import AppStore
package import KafkaClient
package import MillraceRecords

/// An event of a topic `appstore.events.<worker>`.
///
/// Apple does not sign events, and neither does Millrace: everyone who may write to the topic can publish one. The
/// record's attributes must at least fit its topic and its key.
package struct PublishedEvent: Sendable {
  /// `ce_id`.
  package let id: String
  /// The worker that published the event.
  package let worker: String
  /// The name, such as `subscription.expired`.
  package let name: String
  /// The ordering key.
  package let key: String
  /// `ce_time`: the time of the decision.
  package let time: Timestamp?
  /// The extension attributes, such as `notificationid`, sorted by name.
  package let extensions: [(name: String, value: String)]
  /// The content.
  package let data: JSON
  /// The bytes of ``data`` as they were published.
  package let bytes: [UInt8]
  /// The trace that the event belongs to.
  package let traceParent: TraceParent?

  /// The start of the name of every events topic, without the deployment's prefix.
  package static let topicPrefix = "appstore.events."

  /// The event's type.
  package var type: String { "dev.millrace.\(worker).\(name)" }
  /// The event's source.
  package var source: String { "millrace/\(worker)" }

  /// Reads the event in a record.
  /// - Parameter topic: The topic that the record was first written to.
  package init(_ record: ConsumerRecord, from topic: String) throws(UndecodableRecord) {
    guard let bytes = record.value else {
      throw UndecodableRecord(reason: .tombstone, description: "a record on \(record.topic) has no value")
    }
    var attributes: [String: String] = [:]
    for header in record.headers where header.name.hasPrefix("ce_") || header.name == "traceparent" {
      attributes[header.name] = header.value.flatMap { String(utf8: $0) }
    }
    func attribute(_ name: String) throws(UndecodableRecord) -> String {
      guard let value = attributes.removeValue(forKey: name), !value.isEmpty else {
        throw UndecodableRecord(reason: .headers, description: "\(name) is missing or malformed")
      }
      return value
    }
    guard try attribute("ce_specversion") == "1.0" else {
      throw UndecodableRecord(reason: .headers, description: "ce_specversion is not 1.0")
    }
    let (id, type, source) = (try attribute("ce_id"), try attribute("ce_type"), try attribute("ce_source"))
    let key = try attribute("ce_subject")
    guard let own = record.key, own.elementsEqual(key.utf8) else {
      throw UndecodableRecord(reason: .headers, description: "ce_subject does not match the record's key")
    }
    guard source.hasPrefix("millrace/"), topic.hasSuffix(Self.topicPrefix + source.dropFirst("millrace/".count)) else {
      throw UndecodableRecord(reason: .headers, description: "ce_source does not match the topic")
    }
    let worker = String(source.dropFirst("millrace/".count))
    let start = "dev.millrace.\(worker)."
    guard type.hasPrefix(start), type.count > start.count else {
      throw UndecodableRecord(reason: .headers, description: "ce_type does not match ce_source")
    }
    do {
      data = try JSON(parsing: bytes)
    } catch {
      throw UndecodableRecord(
        reason: .malformed, description: "not JSON: \(error.reason.rawValue) at byte \(error.offset)")
    }
    time = attributes.removeValue(forKey: "ce_time").flatMap { Timestamp(rfc3339: $0) }
    traceParent = attributes.removeValue(forKey: "traceparent").flatMap { TraceParent($0) }
    // A replay marks its copies, which are the same events.
    for name in [DeliveryHistory.replayIDHeader, DeliveryHistory.sourceHeader, "ce_origin"] { attributes[name] = nil }
    extensions = attributes.sorted { $0.key < $1.key }.map { (String($0.key.dropFirst("ce_".count)), $0.value) }
    (self.id, self.worker, self.key, self.bytes) = (id, worker, key, bytes)
    name = String(type.dropFirst(start.count))
  }
}
