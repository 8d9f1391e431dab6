// Reads the topics into the store with one client. It joins no consumer group and commits nothing.

internal import MillraceTime
internal import KafkaClient
internal import MillraceRecords

/// Follows a fixed set of partitions.
struct TopicFollower: Sendable {
  let configuration: KafkaConfiguration
  let topics: ConsoleTopics
  let store: ConsoleStore
  /// The start offset of each partition, and the partitions that conditions depend on.
  struct Plan: Sendable {
    var starts: [TopicPartition: StartOffset] = [:]
    /// The partitions to read to their ends before the console knows the conditions.
    var judged: Set<TopicPartition> = []

    /// - Parameter recent: The first offset within ``horizon`` by partition; nil if the cluster cannot look up offsets
    ///   by time.
    init(_ topics: ConsoleTopics, facts: ClusterFacts, recent: [TopicPartition: Int64]?) {
      for (partition, range) in facts.ranges {
        guard let kind = topics.kinds[partition.topic] else { continue }
        starts[partition] =
          switch kind.extent {
          case .tail: .offset(max(range.lowerBound, range.upperBound - Self.tail))
          case .recent: recent.map { .offset($0[partition] ?? range.upperBound) } ?? .earliest
          case .everything: .earliest
          }
        if !range.isEmpty, kind.extent != .tail || kind == .quarantine { judged.insert(partition) }
      }
    }

    /// The number of existing records to read from a partition whose history is not needed.
    static let tail: Int64 = 200
    /// How far back to read topics whose records can still be pending. Covers the longest retry delay and consumption
    /// requests that Apple may repeat.
    static let horizon = Duration.seconds(3 * 86_400)

    /// Returns the partitions whose start offset depends on time.
    static func timed(_ topics: ConsoleTopics, facts: ClusterFacts) -> [TopicPartition] {
      facts.ranges.keys.filter { topics.kinds[$0.topic]?.extent == .recent }.sorted()
    }
  }

  /// Reads until the task is cancelled.
  func run(_ plan: Plan) async throws {
    await store.begin(reading: plan.judged)
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

extension ConsoleTopics.Kind {
  /// The existing records to read.
  enum Extent: Sendable, Hashable {
    case everything
    /// The records within ``TopicFollower/Plan/horizon``.
    case recent
    /// The last ``TopicFollower/Plan/tail`` records.
    case tail
  }

  var extent: Extent {
    switch self {
    case .operations, .campaigns, .backfills, .audit, .control, .deadLetters: .everything
    case .retry, .notifications(NotificationFamily.consumptionRequests.rawValue), .events("consumption"): .recent
    case .notifications, .quarantine, .events, .replay: .tail
    }
  }
}
