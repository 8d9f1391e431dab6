// When clients of a cluster notice that a broker is away: what a test waits for that took one down.

import Kafka
import Synchronization

final class BrokerLosses: Sendable {
  private let watches = Mutex<[(broker: String, feed: AsyncStream<Void>.Continuation)]>([])

  /// Tells the watches what a client met.
  var observer: ClientObserver {
    ClientObserver(error: { [self] error in
      // librdkafka names a broker as host:port/id.
      watches.withLock { for watch in $0 where error.reason.contains(watch.broker) { watch.feed.yield() } }
    })
  }

  /// Yields for every error that a client has with a broker from now on.
  func watch(_ broker: Int32) -> AsyncStream<Void> {
    let (stream, feed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    watches.withLock { $0.append(("/\(broker):", feed)) }
    return stream
  }
}
