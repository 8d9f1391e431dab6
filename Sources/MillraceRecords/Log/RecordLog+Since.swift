// Scans the records since a time: with the log's time index if there is one, otherwise by the records' own times. The
// index knows only real time.

package import AppStore
package import MillraceTime
package import KafkaClient

extension RecordLog {
  /// Calls `body` with the records of topics that were written since `time`, one partition after the other. The scan of
  /// each partition ends at the end that it had when the scan began.
  ///
  /// - Parameter clock: The clock of the records. If it is simulated, the scan reads every record.
  /// - Throws: ``KafkaError``, the error of `body`, or `CancellationError`.
  package func scan(
    _ topics: [String], since time: Timestamp, by clock: MillraceClock, upTo limit: Int = 1_000,
    timeout: Duration = .seconds(15),
    _ body: @Sendable (ConsumerRecord) async throws -> Void
  ) async throws {
    let counts = try await partitionCounts(of: topics, timeout: timeout)
    let partitions = topics.flatMap { topic in
      (0..<Int32(clamping: counts[topic] ?? 0)).map { TopicPartition(topic: topic, partition: $0) }
    }
    let starts =
      description.capabilities.contains(.timeLookup) && !clock.isSimulated
      ? try await offsets(of: partitions, since: time.millisecondsSince1970, timeout: timeout) : nil
    for partition in partitions {
      // A partition without an offset for that time has no records since then.
      if let starts, starts[partition] == nil { continue }
      try await scan(
        partition, from: starts?[partition].map { .offset($0) } ?? .earliest, to: .highWatermark, upTo: limit
      ) { records in
        for record in records where record.time(by: clock) ?? time >= time { try await body(record) }
      }
    }
  }
}
