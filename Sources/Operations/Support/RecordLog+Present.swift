// The offsets of topics at present, for commands that read what is there and end.

package import KafkaClient
package import MillraceRecords

extension KafkaLog {
  /// Connects for reading. If retention removes records during the read, it continues with the oldest remaining one.
  /// - Throws: `KafkaError` if the cluster does not answer.
  package static func reader(
    _ configuration: KafkaConfiguration, timeout: Duration = .seconds(15),
    observer: ClientObserver = ClientObserver()
  ) async throws -> KafkaLog {
    var reader = configuration
    reader.properties["auto.offset.reset"] = "earliest"
    return try await connect(reader, timeout: timeout) { _ in observer }
  }
}

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
