// CloudEvents 1.0 in Kafka's binary content mode: the attributes are headers, and the value is the unchanged data.

public import AppStore
public import KafkaClient

/// The context attributes of a record (CloudEvents 1.0, Kafka Protocol Binding, binary content mode).
public struct CloudEvent: Sendable, Hashable {
  /// `ce_id`; unique together with ``source``.
  public var id: String
  /// `ce_source`, a URI reference.
  public var source: String
  /// `ce_type`.
  public var type: String
  /// `ce_subject`.
  public var subject: String?
  /// `ce_time`.
  public var time: Timestamp?
  /// `content-type`: the media type of the value.
  public var contentType: String?
  /// Extension attributes by name (lower-case letters and digits), without the prefix `ce_`.
  public var extensions: [String: String]
  /// The `traceparent` header, which has no prefix.
  public var traceParent: TraceParent?

  /// Creates an event.
  public init(
    id: String, source: String, type: String, subject: String? = nil, time: Timestamp? = nil,
    contentType: String? = nil, extensions: [String: String] = [:], traceParent: TraceParent? = nil
  ) {
    self.id = id
    self.source = source
    self.type = type
    self.subject = subject
    self.time = time
    self.contentType = contentType
    self.extensions = extensions
    self.traceParent = traceParent
  }

  /// The record headers, in a fixed order.
  public var headers: [RecordHeader] {
    var headers: [RecordHeader] = []
    headers.reserveCapacity(8 + extensions.count)
    if let contentType { headers.append(RecordHeader("content-type", contentType)) }
    headers.append(RecordHeader("ce_specversion", "1.0"))
    headers.append(RecordHeader("ce_id", id))
    headers.append(RecordHeader("ce_type", type))
    headers.append(RecordHeader("ce_source", source))
    if let subject { headers.append(RecordHeader("ce_subject", subject)) }
    if let time { headers.append(RecordHeader("ce_time", time.rfc3339)) }
    for (name, value) in extensions.sorted(by: { $0.key < $1.key }) {
      headers.append(RecordHeader("ce_" + name, value))
    }
    if let traceParent { headers.append(RecordHeader("traceparent", traceParent.description)) }
    return headers
  }
}

extension ConsumerRecord {
  /// Returns the value of a header as text; nil if it is absent or not UTF-8. The last one counts.
  package func text(_ header: String) -> String? {
    headers.last { $0.name == header }?.value.flatMap { String(validating: $0, as: UTF8.self) }
  }
}
