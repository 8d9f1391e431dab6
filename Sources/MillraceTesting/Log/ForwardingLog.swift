// A log in front of another one, for tests and benchmarks that want one thing of it to be different.

public import Kafka
public import Millrace

/// A log that passes everything on to the one behind it, but for what the type writes itself.
public protocol ForwardingLog: RecordLog {
  /// The kind of log behind it.
  associatedtype Base: RecordLog
  /// The log behind it.
  var log: Base { get }
}

extension ForwardingLog {
  /// That of the log behind it.
  public var description: LogDescription { log.description }

  /// Asks the log behind it.
  public func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    try await log.partitionCounts(of: topics, timeout: timeout)
  }

  /// Asks the log behind it.
  public func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    try await log.highWatermarks(of: partitions, timeout: timeout)
  }

  /// Asks the log behind it.
  public func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64] {
    try await log.offsets(of: partitions, since: time, timeout: timeout)
  }

  /// A reader of the log behind it.
  public func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader {
    try log.makeReader(group: group, topics: topics, options: options)
  }

  /// A writer of the log behind it.
  public func makeWriter() throws(KafkaError) -> any LogWriter { try log.makeWriter() }

  /// A writer of the log behind it.
  public func makeTransactionalWriter(
    id: String, timeout: Duration
  ) throws(KafkaError) -> any TransactionalLogWriter {
    try log.makeTransactionalWriter(id: id, timeout: timeout)
  }

  /// Reads from the log behind it.
  @discardableResult
  public func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    try await log.scan(partition, from: start, to: end, upTo: limit, body)
  }
}
