// The offsets of topics at present, for commands that read what is there and end.

internal import KafkaClient
internal import MillraceRecords

extension RecordLog {
  /// Returns the partitions of topics.
  /// - Throws: ``OperationError`` if a topic does not exist; `KafkaError`.
  func presentPartitions(of topics: [String]) async throws -> [TopicPartition] {
    let partitions = try await partitions(of: topics)
    let missing = Set(topics).subtracting(partitions.map(\.topic))
    if let first = missing.min() { throw OperationError.missing(first) }
    return partitions
  }

  /// Returns the offsets that the partitions of topics hold.
  /// - Throws: ``OperationError`` if a topic does not exist; `KafkaError`.
  func presentOffsets(of topics: [String]) async throws -> [TopicPartition: Range<Int64>] {
    try await highWatermarks(of: try await presentPartitions(of: topics), timeout: .seconds(15))
  }
}
