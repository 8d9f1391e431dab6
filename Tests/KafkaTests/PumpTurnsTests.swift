// What a consumer says of its own pump, which is what liveness of a worker is judged by.

import Dispatch
import Synchronization
import Testing

@testable import Kafka

@Suite(.timeLimit(.minutes(15))) struct PumpTurnsTests {
  /// Holds the pump of a client in the first statistics that it reports, and tells of all of them.
  private final class Holder: Sendable {
    let reports: AsyncStream<Int>
    private let feed: AsyncStream<Int>.Continuation
    private let count = Mutex(0)
    private let release = DispatchSemaphore(value: 0)

    init() { (reports, feed) = AsyncStream.makeStream(of: Int.self) }

    var observer: ClientObserver {
      ClientObserver(statistics: { [self] _ in
        let number = count.withLock { count in
          count += 1
          return count
        }
        feed.yield(number)
        if number == 1 { release.wait() }
      })
    }

    func letGo() { release.signal() }
  }

  @Test func `a pump that is held gets older, one that turns is young again, and one that does not run has no age`()
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
      // Also where something fails before: nobody could stop a pump that is held.
      defer { holder.letGo() }
      var reports = holder.reports.makeAsyncIterator()
      _ = await reports.next()
      // A question on another thread, which the broker answers when more than one wake-up of the pump was missed.
      try cluster.embedded.setRoundTrip(.milliseconds(1_500), of: 1)
      _ = try await consumer.watermarks(of: partition, timeout: .seconds(60))
      let held = try #require(consumer.sinceLastTurn)
      #expect(held >= .milliseconds(1_500))
      holder.letGo()
      var isYoung = false
      while !isYoung, let number = await reports.next(), number < 1_000 {
        isYoung = try #require(consumer.sinceLastTurn) < held
      }
      #expect(isYoung)
    }
    #expect(consumer.sinceLastTurn == nil)
  }
}
