// Reads one record at a given position.

internal import KafkaClient
internal import MillraceRecords

/// Reads a single record.
struct SingleRecord: Sendable {
  let log: any RecordLog

  /// - Returns: The record, or nil if the partition does not hold it.
  func read(_ partition: TopicPartition, at offset: Int64) async throws -> ConsumerRecord? {
    let counts = try await log.partitionCounts(of: [partition.topic], timeout: .seconds(10))
    guard (0..<(counts[partition.topic] ?? 0)).contains(Int(partition.partition)) else { return nil }
    let range = try await log.highWatermarks(of: [partition], timeout: .seconds(10))[partition] ?? 0..<0
    guard range.contains(offset) else { return nil }
    return try await log.record(at: offset, of: partition)
  }
}
