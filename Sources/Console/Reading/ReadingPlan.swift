// Decides from where the console reads each partition. Pure.

internal import KafkaClient
internal import MillraceRecords

/// The start offset of each partition, and the partitions that conditions depend on.
struct ReadingPlan: Sendable {
  var starts: [TopicPartition: StartOffset] = [:]
  /// The partitions to read to their ends before the console knows the conditions.
  var judged: Set<TopicPartition> = []

  /// - Parameter recent: The first offset within ``horizon`` by partition; nil if the cluster cannot look up offsets by
  ///   time.
  init(_ topics: ConsoleTopics, facts: ClusterFacts, recent: [TopicPartition: Int64]?) {
    for (partition, range) in facts.ranges {
      guard let kind = topics.kinds[partition.topic] else { continue }
      // Only the worker itself reads its retry topics. What it has committed no longer waits.
      let done = kind.isRetry ? facts.committed.values.compactMap { $0[partition] }.max() ?? 0 : 0
      starts[partition] =
        switch kind.extent {
        case .tail: .offset(max(range.lowerBound, range.upperBound - Self.tail))
        case .recent: recent.map { .offset(max($0[partition] ?? range.upperBound, done)) } ?? .earliest
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

extension ConsoleTopics.Kind {
  /// The existing records to read.
  enum Extent: Sendable, Hashable {
    case everything
    /// The records within ``ReadingPlan/horizon``.
    case recent
    /// The last ``ReadingPlan/tail`` records.
    case tail
  }

  var isRetry: Bool { if case .retry = self { true } else { false } }

  var extent: Extent {
    switch self {
    case .operations, .campaigns, .backfills, .audit, .control, .ingress, .deadLetters: .everything
    case .retry, .notifications(NotificationFamily.consumptionRequests.rawValue), .events("consumption"): .recent
    case .notifications, .quarantine, .events, .replay: .tail
    }
  }
}
