internal import FoundationEssentials

/// The part of librdkafka's statistics that operators watch, and the whole document (STATISTICS.md).
public struct KafkaStatistics: Sendable, Hashable {
  /// The state of one broker, as this client sees it.
  public struct Broker: Sendable, Hashable {
    /// `host:port/id`.
    public var name: String
    /// `UP`, `DOWN`, `CONNECT`, …
    public var state: String
    /// The 99th percentile of the requests' round-trip times in the interval, in microseconds.
    public var roundTripP99Microseconds: Int64
    /// The number of requests that timed out since the client started.
    public var requestTimeouts: Int64
  }

  /// The number of messages in the producer's queues, waiting or in flight.
  public var queuedMessages: Int64
  /// The size of those messages, in bytes.
  public var queuedBytes: Int64
  /// The number of messages sent since the client started.
  public var sentMessages: Int64
  /// The number of messages consumed since the client started.
  public var receivedMessages: Int64
  /// The brokers, sorted by name.
  public var brokers: [Broker]
  /// The whole JSON document from librdkafka.
  public var document: String

  /// Parses librdkafka's document.
  /// - Throws: The error of `JSONDecoder`. Absent fields are 0.
  public init(document: String) throws {
    let decoded = try JSONDecoder().decode(Document.self, from: Data(document.utf8))
    self.document = document
    queuedMessages = decoded.msg_cnt ?? 0
    queuedBytes = decoded.msg_size ?? 0
    sentMessages = decoded.txmsgs ?? 0
    receivedMessages = decoded.rxmsgs ?? 0
    brokers = (decoded.brokers ?? [:]).values
      .map {
        Broker(
          name: $0.name ?? "", state: $0.state ?? "", roundTripP99Microseconds: $0.rtt?.p99 ?? 0,
          requestTimeouts: $0.req_timeouts ?? 0)
      }
      .sorted { $0.name < $1.name }
  }

  private struct Document: Decodable {
    struct Window: Decodable { var p99: Int64? }
    struct Broker: Decodable {
      var name: String?
      var state: String?
      var rtt: Window?
      var req_timeouts: Int64?
    }
    var msg_cnt: Int64?
    var msg_size: Int64?
    var txmsgs: Int64?
    var rxmsgs: Int64?
    var brokers: [String: Broker]?
  }
}
