internal import FoundationEssentials

/// The part of librdkafka's statistics that an operator watches (STATISTICS.md), with the whole document at hand.
public struct KafkaStatistics: Sendable, Hashable {
  /// One broker as this client sees it.
  public struct Broker: Sendable, Hashable {
    /// `host:port/id`.
    public var name: String
    /// `UP`, `DOWN`, `CONNECT`, …
    public var state: String
    /// Round-trip time of requests, 99th percentile of the interval, in microseconds.
    public var roundTripP99Microseconds: Int64
    /// Requests that timed out since the client started.
    public var requestTimeouts: Int64
  }

  /// Messages waiting or in flight in the producer's queues.
  public var queuedMessages: Int64
  /// Bytes of those messages.
  public var queuedBytes: Int64
  /// Messages sent since the client started.
  public var sentMessages: Int64
  /// Messages consumed since the client started.
  public var receivedMessages: Int64
  /// Brokers, by name.
  public var brokers: [Broker]
  /// The whole document as librdkafka wrote it, JSON.
  public var document: String

  /// Reads librdkafka's document.
  /// - Throws: what `JSONDecoder` found wrong; fields that are absent read as 0.
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
