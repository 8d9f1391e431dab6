// Reads the topics in the background, all with one client, into the store. Nothing is committed: the console is in no
// group and disturbs none.

internal import Clocks
internal import Kafka
internal import Millrace

/// Follows topics for as long as the partitions stay the same.
struct TopicFollower: Sendable {
  let configuration: KafkaConfiguration
  let topics: ConsoleTopics
  let store: ConsoleStore
  /// Records read of a partition whose past does not matter, before what comes.
  static let tail: Int64 = 200

  /// Where each partition is read from, and which of them are read whole.
  struct Plan: Sendable {
    var starts: [TopicPartition: StartOffset] = [:]
    var whole: Set<TopicPartition> = []

    /// - Parameter recent: The first offsets of what is recent enough, where the cluster can look them up.
    init(_ topics: ConsoleTopics, facts: ClusterFacts, recent: [TopicPartition: Int64]?) {
      for (topic, kind) in topics.kinds {
        for number in 0..<Int32(clamping: facts.topics[topic] ?? 0) {
          let partition = TopicPartition(topic: topic, partition: number)
          guard let range = facts.ranges[partition] else { continue }
          switch kind {
          case .operations, .campaigns, .backfills, .audit, .deadLetters:
            starts[partition] = .earliest
            if !range.isEmpty { whole.insert(partition) }
          case .retry: starts[partition] = Self.recent(partition, range, recent)
          case .notifications(let family) where family == NotificationFamily.consumptionRequests.rawValue,
            .events(let family) where family == "consumption":
            starts[partition] = Self.recent(partition, range, recent)
          case .notifications, .quarantine, .events, .replay:
            starts[partition] = .offset(max(range.lowerBound, range.upperBound - TopicFollower.tail))
          }
        }
      }
    }

    /// How far back topics of unfinished things are read: the longest retry, and what Apple may still ask about.
    static let horizon = Duration.seconds(3 * 86_400)

    private static func recent(
      _ partition: TopicPartition, _ range: Range<Int64>, _ recent: [TopicPartition: Int64]?
    ) -> StartOffset {
      guard let recent else { return .earliest }
      return .offset(recent[partition] ?? range.upperBound)
    }

    /// The partitions whose start depends on time.
    static func timed(_ topics: ConsoleTopics, facts: ClusterFacts) -> [TopicPartition] {
      let names = topics.names { kind in
        switch kind {
        case .retry: true
        case .notifications(let family): family == NotificationFamily.consumptionRequests.rawValue
        case .events(let worker): worker == "consumption"
        default: false
        }
      }
      return facts.ranges.keys.filter { names.contains($0.topic) }.sorted()
    }
  }

  /// Reads until cancelled.
  func run(_ plan: Plan) async throws {
    await store.begin(reading: plan.whole)
    let consumer = try KafkaConsumer(
      configuration.reading(kilobytes: 64, messages: 200), subscription: .partitions(plan.starts))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      defer { consumer.shutDown() }
      for await event in consumer.events {
        switch event {
        case .assigned(let queues): for queue in queues { group.addTask { try await follow(queue) } }
        case .revoked(let revocation): revocation.complete()
        }
      }
      try await group.waitForAll()
    }
  }

  private func follow(_ queue: PartitionQueue) async throws {
    while let page = try await queue.nextPage(upTo: 200) {
      await store.take(page.records)
      if page.end != nil { await store.reach(queue.partition) }
    }
  }
}
