internal import Synchronization

/// Delays that a client's quotas have caused.
///
/// A broker answers a request of a user or client above its quota (`producer_byte_rate`, `consumer_byte_rate`,
/// `request_percentage`), and then accepts none of its requests for some time. It is no error: records only take longer.
/// See <https://kafka.apache.org/documentation/#design_quotas>.
public struct Throttling: Sendable, Hashable {
  /// The broker, as `host:port`.
  public var broker: String
  /// The sum of the delays since the last report.
  public var delay: Duration

  package init(broker: String, delay: Duration) {
    self.broker = broker
    self.delay = delay
  }
}

/// Adds up the delays of a client between two reports.
final class ThrottleFeed: Sendable {
  private let delays = Mutex<[String: Duration]>([:])

  /// Adds the delay of an answer. librdkafka also reports the first answer after delays that has none.
  func add(_ broker: String, _ delay: Duration) {
    guard delay > .zero else { return }
    delays.withLock { $0[broker, default: .zero] += delay }
  }

  /// Returns the delays that were added since the last call, by broker.
  func take() -> [Throttling] {
    let taken = delays.withLock { delays in
      guard !delays.isEmpty else { return [String: Duration]() }
      defer { delays = [:] }
      return delays
    }
    return taken.map { Throttling(broker: $0.key, delay: $0.value) }.sorted { $0.broker < $1.broker }
  }
}
