// Reports when clients of a cluster notice that a broker is down, so that a test can wait for it.

import KafkaClient
import Synchronization

final class BrokerLosses: Sendable {
  private let watches = Mutex<[(broker: String, feed: AsyncStream<Void>.Continuation)]>([])

  /// Passes the errors of a client to the watches.
  var observer: ClientObserver {
    ClientObserver(error: { [self] error in
      // librdkafka names a broker as host:port/id.
      watches.withLock { for watch in $0 where error.reason.contains(watch.broker) { watch.feed.yield() } }
    })
  }

  /// Returns a stream that yields for every later error of a client with this broker.
  func watch(_ broker: Int32) -> AsyncStream<Void> {
    let (stream, feed) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    watches.withLock { $0.append(("/\(broker):", feed)) }
    return stream
  }
}
