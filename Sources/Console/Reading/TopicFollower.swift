// Reads the topics into the store with one client. It joins no consumer group and commits nothing.

internal import MillraceTime
internal import KafkaClient
internal import MillraceRecords

/// Follows a fixed set of partitions.
struct TopicFollower: Sendable {
  let configuration: KafkaConfiguration
  let topics: ConsoleTopics
  let store: ConsoleStore
  /// The number of existing records to read from a partition whose history is not needed.
  static let tail: Int64 = 200

  /// The start offset of each partition, and the partitions to read from the beginning.
  struct Plan: Sendable {
    var starts: [TopicPartition: StartOffset] = [:]
    var whole: Set<TopicPartition> = []

    /// - Parameter recent: The first offset within ``horizon`` by partition; nil if the cluster cannot look up offsets
    ///   by time.
    init(_ topics: ConsoleTopics, facts: ClusterFacts, recent: [TopicPartition: Int64]?) {
      for (topic, kind) in topics.kinds {
        for number in 0..<Int32(clamping: facts.topics[topic] ?? 0) {
          let partition = TopicPartition(topic: topic, partition: number)
          guard let range = facts.ranges[partition] else { continue }
          switch kind {
          case .operations, .campaigns, .backfills, .audit, .control, .deadLetters:
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

    /// How far back to read topics whose records can still be pending. Covers the longest retry delay and consumption
    /// requests that Apple may repeat.
    static let horizon = Duration.seconds(3 * 86_400)

    private static func recent(
      _ partition: TopicPartition, _ range: Range<Int64>, _ recent: [TopicPartition: Int64]?
    ) -> StartOffset {
      guard let recent else { return .earliest }
      return .offset(recent[partition] ?? range.upperBound)
    }

    /// Returns the partitions whose start offset depends on time.
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

  /// Reads until the task is cancelled.
  func run(_ plan: Plan) async throws {
    await store.begin(reading: plan.whole)
    let consumer = try KafkaConsumer(
      configuration.reading(kilobytes: 64, messages: 200), subscription: .partitions(plan.starts))
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await consumer.run() }
      defer { consumer.shutDown() }
      for await event in consumer.events {
        switch event {
        case .assigned(let queues):
          for queue in queues {
            group.addTask {
              // The events end with the client, so that the group throws this error.
              do { try await follow(queue) } catch {
                consumer.shutDown()
                throw error
              }
            }
          }
        case .revoked(let revocation): revocation.complete()
        }
      }
      try await group.waitForAll()
    }
  }

  private func follow(_ queue: PartitionQueue) async throws {
    while let page = try await queue.nextPage(upTo: 200, choosing: nil) {
      await store.apply(page.records)
      if page.end != nil { await store.reach(queue.partition) }
    }
  }
}
