// Tests the age of a consumer's last poll, which the liveness check of a worker uses.

import Dispatch
import Synchronization
import Testing

@testable import KafkaClient

@Suite(.timeLimit(.minutes(15))) struct PollHeartbeatTests {
  /// Blocks the poll loop of a client in its first statistics callback, and reports all callbacks.
  private final class Holder: Sendable {
    let reports: AsyncStream<Void>
    private let feed: AsyncStream<Void>.Continuation
    private let count = Mutex(0)
    private let release = DispatchSemaphore(value: 0)

    init() { (reports, feed) = AsyncStream.makeStream(of: Void.self) }

    var observer: ClientObserver {
      ClientObserver(statistics: { [self] _ in
        let number = count.withLock { count in
          count += 1
          return count
        }
        feed.yield()
        if number == 1 { release.wait() }
      })
    }

    func letGo() { release.signal() }
  }

  @Test func `the age of the last poll grows while the loop is blocked and is nil without a loop`()
    async throws
  {
    let cluster = try TestCluster(topics: ["t": 1])
    let partition = TopicPartition(topic: "t", partition: 0)
    let holder = Holder()
    let consumer = try KafkaConsumer(
      cluster.configuration(["statistics.interval.ms": "50"]), subscription: .partitions([partition: .earliest]),
      observer: holder.observer)
    #expect(consumer.sinceLastTurn == nil)
    try await running(consumer.run, until: consumer.shutDown) {
      // Also after a failure, because a blocked loop cannot be stopped.
      defer { holder.letGo() }
      var reports = holder.reports.makeAsyncIterator()
      _ = await reports.next()
      // A request on another thread. The broker answers it after the loop has missed more than one wake-up.
      try cluster.embedded.setRoundTrip(.milliseconds(1_500), of: 1)
      _ = try await consumer.watermarks(of: partition, timeout: .seconds(60))
      let held = try #require(consumer.sinceLastTurn)
      #expect(held >= .milliseconds(1_500))
      holder.letGo()
      var isYoung = false
      while !isYoung, await reports.next() != nil {
        isYoung = try #require(consumer.sinceLastTurn) < held
      }
      #expect(isYoung)
    }
    #expect(consumer.sinceLastTurn == nil)
  }
}
