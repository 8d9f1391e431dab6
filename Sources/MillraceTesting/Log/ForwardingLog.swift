// A log that wraps another one, for tests and benchmarks that change one of its operations.

public import KafkaClient
public import MillraceRecords

/// A log that forwards every call to the log that it wraps. A conforming type overrides the calls that it changes.
public protocol ForwardingLog: RecordLog {
  /// The type of the wrapped log.
  associatedtype Base: RecordLog
  /// The wrapped log.
  var log: Base { get }
}

extension ForwardingLog {
  /// The description of the wrapped log.
  public var description: LogDescription { log.description }

  /// Forwards the call to the wrapped log.
  public func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    try await log.partitionCounts(of: topics, timeout: timeout)
  }

  /// Forwards the call to the wrapped log.
  public func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    try await log.highWatermarks(of: partitions, timeout: timeout)
  }

  /// Forwards the call to the wrapped log.
  public func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64] {
    try await log.offsets(of: partitions, since: time, timeout: timeout)
  }

  /// Creates a reader of the wrapped log.
  public func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader {
    try log.makeReader(group: group, topics: topics, options: options)
  }

  /// Creates a writer of the wrapped log.
  public func makeWriter() throws(KafkaError) -> any LogWriter { try log.makeWriter() }

  /// Creates a transactional writer of the wrapped log.
  public func makeTransactionalWriter(
    id: String, timeout: Duration
  ) throws(KafkaError) -> any TransactionalLogWriter {
    try log.makeTransactionalWriter(id: id, timeout: timeout)
  }

  /// Reads a partition of the wrapped log.
  @discardableResult
  public func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    try await log.scan(partition, from: start, to: end, upTo: limit, body)
  }
}
