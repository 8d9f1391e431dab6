// Reads a part of a topic into a value: a fold over the pages of a scan.

package import AppStore
package import KafkaClient
package import MillraceTime
internal import Synchronization

extension RecordLog {
  /// Folds the committed records of a partition into a value, page by page. Otherwise like the scan of a partition.
  /// - Throws: ``KafkaError``, the error of `update`, or `CancellationError`.
  package func fold<Value: Sendable>(
    _ partition: TopicPartition, from start: StartOffset = .earliest, to end: ScanEnd = .highWatermark,
    upTo limit: Int = 1_000, into value: Value, _ update: @Sendable (inout Value, [ConsumerRecord]) throws -> Void
  ) async throws -> Value {
    let state = FoldState(value)
    try await scan(partition, from: start, to: end, upTo: limit) { page in try state.update { try update(&$0, page) } }
    return state.value
  }

  /// Folds the committed records of several partitions into a value. Pages of different partitions come in any order.
  /// - Throws: ``KafkaError``, the error of `update`, or `CancellationError`.
  package func fold<Value: Sendable>(
    _ ranges: [TopicPartition: Range<Int64>], where filter: HeaderFilter? = nil, upTo limit: Int = 1_000,
    into value: Value, _ update: @escaping @Sendable (inout Value, ScanPage) throws -> Void
  ) async throws -> Value {
    let state = FoldState(value)
    try await scan(ranges, where: filter, upTo: limit) { page in try state.update { try update(&$0, page) } }
    return state.value
  }

  /// Folds the records of topics that were written since a time into a value, one partition after the other. Each
  /// partition is read to the end that it had when its turn came. The log's index finds the first records if there is one.
  /// It knows only real time, so the records' own times decide otherwise.
  ///
  /// - Parameter clock: The clock of the records. If it is simulated, every record is read.
  /// - Throws: ``KafkaError``, the error of `update`, or `CancellationError`.
  package func fold<Value: Sendable>(
    _ topics: [String], since time: Timestamp, by clock: MillraceClock, upTo limit: Int = 1_000,
    timeout: Duration = .seconds(15), into value: Value,
    _ update: @Sendable (inout Value, ConsumerRecord) throws -> Void
  ) async throws -> Value {
    let partitions = try await partitions(of: topics, timeout: timeout)
    let starts =
      description.capabilities.contains(.timeLookup) && !clock.isSimulated
      ? try await offsets(of: partitions, since: time.millisecondsSince1970, timeout: timeout) : nil
    var value = value
    for partition in partitions {
      // A partition without an offset for that time has no records since then.
      if let starts, starts[partition] == nil { continue }
      value = try await fold(
        partition, from: starts?[partition].map { .offset($0) } ?? .earliest, upTo: limit, into: value
      ) { value, page in
        for record in page where record.time(by: clock) ?? time >= time { try update(&value, record) }
      }
    }
    return value
  }

  /// Returns the partitions of topics; a missing topic has none.
  /// - Throws: ``KafkaError`` if the log did not answer within `timeout`.
  package func partitions(
    of topics: [String], timeout: Duration = .seconds(15)
  ) async throws(KafkaError) -> [TopicPartition] {
    let counts = try await partitionCounts(of: topics, timeout: timeout)
    return topics.flatMap { topic in
      (0..<Int32(clamping: counts[topic] ?? 0)).map { TopicPartition(topic: topic, partition: $0) }
    }
  }

  /// Returns the record at an offset, or nil if there is none. Waits for an offset that is not written yet.
  /// - Throws: ``KafkaError``; `CancellationError`.
  package func record(at offset: Int64, of partition: TopicPartition) async throws -> ConsumerRecord? {
    try await fold(partition, from: .offset(offset), to: .offset(offset + 1), upTo: 1, into: ConsumerRecord?.none) {
      if let record = $1.first(where: { $0.offset == offset }) { $0 = record }
    }
  }
}

/// A value that the pages of a scan update one after the other.
private final class FoldState<Value: Sendable>: Sendable {
  private let content: Mutex<Value>

  init(_ value: Value) { content = Mutex(value) }

  var value: Value { content.withLock { $0 } }
  func update(_ body: (inout Value) throws -> Void) rethrows { try content.withLock { try body(&$0) } }
}
