// What came since a time, as far as the log can tell: by its index where it has one, by the records' own times otherwise.

package import AppStore
package import Kafka

extension RecordLog {
  /// Hands the records of topics that were written since `time` to `body`, one partition after the other, up to what was
  /// newest when its turn came.
  ///
  /// - Throws: ``KafkaError``, what `body` throws, or `CancellationError`.
  package func scan(
    _ topics: [String], since time: Timestamp, upTo limit: Int = 1_000, timeout: Duration = .seconds(15),
    _ body: @Sendable (ConsumerRecord) async throws -> Void
  ) async throws {
    let counts = try await partitionCounts(of: topics, timeout: timeout)
    let partitions = topics.flatMap { topic in
      (0..<Int32(clamping: counts[topic] ?? 0)).map { TopicPartition(topic: topic, partition: $0) }
    }
    let starts =
      description.capabilities.contains(.timeLookup)
      ? try await offsets(of: partitions, since: time.millisecondsSince1970, timeout: timeout) : nil
    for partition in partitions {
      // A partition without an offset for that time holds nothing so young.
      if let starts, starts[partition] == nil { continue }
      try await scan(
        partition, from: starts?[partition].map { .offset($0) } ?? .earliest, to: .highWatermark, upTo: limit
      ) { records in
        for record in records where record.timestamp ?? .max >= time.millisecondsSince1970 { try await body(record) }
      }
    }
  }
}
