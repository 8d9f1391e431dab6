// Reads the content of topics at one point in time.

package import KafkaClient
package import MillraceRecords
internal import Synchronization

extension RecordLog {
  /// All partitions of these topics.
  package func partitions(of topics: [String]) async throws -> [TopicPartition] {
    let counts = try await partitionCounts(of: topics, timeout: .seconds(30))
    return counts.sorted { $0.key < $1.key }.flatMap { topic, count in
      (0..<Int32(count)).map { TopicPartition(topic: topic, partition: $0) }
    }
  }

  /// The records of these partitions up to the time of this call, in order within a partition.
  package func everything(in partitions: [TopicPartition]) async throws -> [ConsumerRecord] {
    let found = Mutex<[ConsumerRecord]>([])
    for partition in partitions {
      try await scan(partition, from: .earliest, to: .highWatermark, upTo: 1_000) { page in
        found.withLock { $0 += page }
      }
    }
    return found.withLock { $0 }
  }

  /// The records of these topics up to the time of this call.
  package func everything(in topics: [String]) async throws -> [ConsumerRecord] {
    try await everything(in: try await partitions(of: topics))
  }

  /// The partitions whose oldest records retention has deleted, so checks cannot rely on them.
  package func trimmed(of topics: [String]) async throws -> [TopicPartition] {
    try await highWatermarks(of: try await partitions(of: topics), timeout: .seconds(30))
      .filter { $0.value.lowerBound > 0 }.map(\.key)
  }
}
