// The clients of conformance tests, on every log.

import KafkaClient
import MillraceRecords
import Synchronization
import Testing

extension LogUnderTest {
  func withWriter<Value: Sendable>(_ body: (any LogWriter) async throws -> Value) async throws -> Value {
    let writer = try log.makeWriter()
    return try await running({ try await writer.run() }, until: writer.shutDown) { try await body(writer) }
  }

  /// Writes records in order and returns their positions.
  @discardableResult
  func write(_ records: ProducerRecord...) async throws -> [RecordPosition] {
    try await withWriter { writer in
      var positions: [RecordPosition] = []
      for record in records { positions.append(try await writer.send(record)) }
      return positions
    }
  }

  /// Initializes a transactional writer and runs it while `body` runs.
  func withTransactions<Value: Sendable>(
    _ id: String = "writer", _ body: (any TransactionalLogWriter) async throws -> Value
  ) async throws -> Value {
    let writer = try log.makeTransactionalWriter(id: "\(prefix).\(id)", timeout: .seconds(60))
    return try await running({ try await writer.run() }, until: writer.shutDown) {
      try await writer.initialize(timeout: .seconds(60))
      return try await body(writer)
    }
  }

  /// Runs a member of the test's group and calls `body` after the first assignment.
  func withMember<Value: Sendable>(
    of topics: [String], options: LogReaderOptions = LogReaderOptions(),
    _ body: (inout GroupMember) async throws -> Value
  ) async throws -> Value {
    let reader = try log.makeReader(group: "\(prefix).group", topics: topics, options: options)
    return try await running({ try await reader.run() }, until: reader.shutDown) {
      var member = GroupMember(reader)
      _ = try await member.nextAssignment()
      return try await body(&member)
    }
  }

  /// Scans a partition up to its high watermark.
  func scan(_ partition: TopicPartition, from start: StartOffset = .earliest, limit: Int = 3) async throws -> Scan {
    let found = Found()
    let end = try await log.scan(partition, from: start, to: .highWatermark, upTo: limit) { found.add($0) }
    return Scan(records: found.records, end: end)
  }
}

struct Scan: Sendable {
  var records: [ConsumerRecord]
  var end: Int64
  var texts: [String] { records.map(\.text) }
}

/// The reader of a group member, and its current assignment.
struct GroupMember {
  let reader: any LogReader
  private(set) var partitions: [any LogPartition] = []
  private var events: any AsyncIteratorProtocol<LogReaderEvent, Never>

  init(_ reader: any LogReader) {
    self.reader = reader
    events = reader.events.makeAsyncIterator()
  }

  var assignment: Set<TopicPartition> { Set(partitions.map(\.partition)) }

  /// Returns the next event, nil if the reader is closed.
  mutating func nextOrEnd() async -> LogReaderEvent? { await events.next(isolation: #isolation) }

  /// Returns the next event.
  mutating func next() async throws -> LogReaderEvent {
    let event = await nextOrEnd()
    return try #require(event, "the reader's events ended")
  }

  /// Waits for the next assignment. Completes revocations at once.
  @discardableResult
  mutating func nextAssignment() async throws -> Set<TopicPartition> {
    while true {
      switch try await next() {
      case .assigned(let partitions):
        self.partitions = partitions
        return assignment
      case .revoked(let revocation): revocation.complete()
      }
    }
  }

  /// Returns an assigned partition.
  func queue(_ partition: TopicPartition) throws -> any LogPartition {
    try #require(partitions.first { $0.partition == partition }, "\(partition) is not assigned")
  }

  /// Reads exactly `count` records of a partition.
  func read(_ count: Int, from partition: TopicPartition) async throws -> [ConsumerRecord] {
    try await queue(partition).read(count)
  }
}

extension LogPartition {
  /// Reads exactly `count` records.
  func read(_ count: Int) async throws -> [ConsumerRecord] {
    var records: [ConsumerRecord] = []
    while records.count < count {
      let batch = try await nextBatch(upTo: count - records.count)
      try #require(!batch.isEmpty, "\(partition) ended after \(records.count) records")
      records += batch
    }
    return records
  }
}

/// Collects the records of a scan.
final class Found: Sendable {
  private let state = Mutex<[ConsumerRecord]>([])
  var records: [ConsumerRecord] { state.withLock { $0 } }
  func add(_ records: [ConsumerRecord]) { state.withLock { $0 += records } }
}

/// Runs a client while `body` runs.
func running<Value: Sendable>(
  _ run: @escaping @Sendable () async throws -> Void, until shutDown: () -> Void, _ body: () async throws -> Value
) async throws -> Value {
  let running = Task { try await run() }
  let result: Result<Value, any Error>
  do { result = .success(try await body()) } catch { result = .failure(error) }
  shutDown()
  let ended: Result<Void, any Error>
  do { ended = .success(try await running.value) } catch { ended = .failure(error) }
  // The error of the body is more specific than the client's error.
  let value = try result.get()
  try ended.get()
  return value
}

/// Returns the Kafka error that `body` throws.
func kafkaError(_ body: () async throws -> Void) async -> KafkaError? {
  do { try await body() } catch { return error as? KafkaError }
  return nil
}

extension ConsumerRecord {
  var text: String { String(decoding: value ?? [], as: UTF8.self) }
}

extension ProducerRecord {
  /// Creates a record with a text as its value.
  init(_ topic: String, _ text: String, partition: Int32? = 0, key: String? = nil, timestamp: Int64? = nil) {
    self.init(
      topic: topic, partition: partition, key: key.map { Array($0.utf8) }, value: Array(text.utf8),
      timestamp: timestamp)
  }
}
