// The logs that one suite of promises is run against: in memory, embedded, and the cluster that KAFKA_BOOTSTRAP_SERVERS
// names. What one of them cannot do is skipped by name.

import Clocks
import Foundation
import Kafka
import Millrace
import MillraceTesting
import Synchronization
import Testing

enum LogBackend: String, CaseIterable, CustomTestStringConvertible {
  case inMemory = "in memory"
  case embedded = "embedded cluster"
  case real = "KAFKA_BOOTSTRAP_SERVERS"

  /// Those that there are.
  static let available: [LogBackend] = realServers == nil ? [.inMemory, .embedded] : allCases

  static let realServers = ProcessInfo.processInfo.environment["KAFKA_BOOTSTRAP_SERVERS"].flatMap {
    $0.isEmpty ? nil : $0
  }

  var testDescription: String { rawValue }
}

/// A log for one test.
struct LogUnderTest {
  let backend: LogBackend
  let log: any RecordLog
  /// What every name of this test begins with, so that suites run side by side and again.
  let prefix: String

  private let embedded: EmbeddedCluster?
  private let inMemory: InMemoryLog?
  private let time = ManualClock()

  /// A log of this kind; skips the test, by name, where there is none or it cannot do what is asked for.
  init(_ backend: LogBackend, requires capabilities: LogCapabilities = []) async throws {
    self.backend = backend
    prefix = "test-\(UUID().uuidString.prefix(8).lowercased())"
    switch backend {
    case .inMemory:
      let log = InMemoryLog(clock: time.clock)
      (self.log, inMemory, embedded) = (log, log, nil)
    case .embedded:
      let cluster = try EmbeddedCluster()
      var configuration = KafkaConfiguration(bootstrapServers: cluster.bootstrapServers, clientID: prefix)
      // Members that are slow to join are dropped after this, and then nobody keeps what he has.
      configuration.properties["session.timeout.ms"] = "10000"
      (log, inMemory, embedded) = (try await KafkaLog.connect(configuration, timeout: .seconds(30)), nil, cluster)
    case .real:
      let servers = try #require(LogBackend.realServers)
      var configuration = KafkaConfiguration(bootstrapServers: servers, clientID: prefix)
      configuration.properties["heartbeat.interval.ms"] = "200"
      (log, inMemory, embedded) = (try await KafkaLog.connect(configuration, timeout: .seconds(30)), nil, nil)
    }
    let missing = capabilities.subtracting(log.description.capabilities)
    if !missing.isEmpty { try Self.skip("on the \(backend.rawValue)", "no \(missing)") }
  }

  /// Ends the test case. Swift Testing says nothing of a case that is cancelled, so it is said here, in the words in
  /// which it tells of tests that are skipped.
  private static func skip(_ place: String, _ reason: String) throws -> Never {
    let name = Test.current?.displayName ?? Test.current?.name ?? "?"
    FileHandle.standardError.write(Data("➜ Test \"\(name)\" \(place) skipped: \(reason)\n".utf8))
    try Test.cancel("\(place): \(reason)")
  }

  /// Creates a topic; returns its name.
  func topic(_ name: String = "t", partitions: Int = 1) async throws -> String {
    let full = "\(prefix).\(name)"
    if let inMemory {
      try inMemory.createTopic(full, partitions: partitions)
    } else if let embedded {
      try embedded.createTopic(full, partitions: partitions)
    } else {
      let configuration = KafkaConfiguration(bootstrapServers: LogBackend.realServers ?? "", clientID: prefix)
      try await KafkaAdmin(configuration).createTopic(
        full, partitions: partitions, replicationFactor: 1, settings: ["retention.ms": "-1"], timeout: .seconds(30))
    }
    return full
  }

  /// Lets a call that waits for as long reach its limit: turned by hand in memory, real elsewhere.
  func pass(_ duration: Duration) async {
    guard inMemory != nil else { return }
    await time.waitForSleepers()
    time.advance(by: duration)
  }

  // MARK: - Clients for the length of a body

  func withWriter<Value: Sendable>(_ body: (any LogWriter) async throws -> Value) async throws -> Value {
    let writer = try log.makeWriter()
    return try await running({ try await writer.run() }, until: writer.shutDown) { try await body(writer) }
  }

  /// Writes records in order and returns where they stand.
  @discardableResult
  func write(_ records: ProducerRecord...) async throws -> [RecordPosition] {
    try await withWriter { writer in
      var positions: [RecordPosition] = []
      for record in records { positions.append(try await writer.send(record)) }
      return positions
    }
  }

  /// A transactional writer that has its id.
  func withTransactions<Value: Sendable>(
    _ id: String = "writer", _ body: (any TransactionalLogWriter) async throws -> Value
  ) async throws -> Value {
    let writer = try log.makeTransactionalWriter(id: "\(prefix).\(id)", timeout: .seconds(60))
    return try await running({ try await writer.run() }, until: writer.shutDown) {
      try await writer.initialize(timeout: .seconds(60))
      return try await body(writer)
    }
  }

  /// A member of the test's group, from its first assignment on.
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

  /// What a scan to the high watermark finds.
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

/// A member's reader and what it was assigned.
struct GroupMember {
  let reader: any LogReader
  private(set) var partitions: [any LogPartition] = []
  private var events: any AsyncIteratorProtocol<LogReaderEvent, Never>

  init(_ reader: any LogReader) {
    self.reader = reader
    events = reader.events.makeAsyncIterator()
  }

  var assignment: Set<TopicPartition> { Set(partitions.map(\.partition)) }

  /// The next event; nil once the reader is closed.
  mutating func nextOrEnd() async -> LogReaderEvent? { await events.next(isolation: #isolation) }

  /// The next event of any kind.
  mutating func next() async throws -> LogReaderEvent {
    let event = await nextOrEnd()
    return try #require(event, "the reader's events ended")
  }

  /// The next assignment; what is revoked is handed over at once.
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

  /// An assigned partition.
  func queue(_ partition: TopicPartition) throws -> any LogPartition {
    try #require(partitions.first { $0.partition == partition }, "\(partition) is not assigned")
  }

  /// Exactly this many records of a partition.
  func read(_ count: Int, from partition: TopicPartition) async throws -> [ConsumerRecord] {
    try await queue(partition).read(count)
  }
}

extension LogPartition {
  /// Exactly this many records.
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

/// Collects what a scan finds.
final class Found: Sendable {
  private let state = Mutex<[ConsumerRecord]>([])
  var records: [ConsumerRecord] { state.withLock { $0 } }
  func add(_ records: [ConsumerRecord]) { state.withLock { $0 += records } }
}

/// Runs a client for the length of `body`.
func running<Value: Sendable>(
  _ run: @escaping @Sendable () async throws -> Void, until shutDown: () -> Void, _ body: () async throws -> Value
) async throws -> Value {
  let running = Task { try await run() }
  let result: Result<Value, any Error>
  do { result = .success(try await body()) } catch { result = .failure(error) }
  shutDown()
  let ended: Result<Void, any Error>
  do { ended = .success(try await running.value) } catch { ended = .failure(error) }
  // The body's error tells more than the client's.
  let value = try result.get()
  try ended.get()
  return value
}

/// What ended `body`, as a Kafka error.
func kafkaError(_ body: () async throws -> Void) async -> KafkaError? {
  do { try await body() } catch { return error as? KafkaError }
  return nil
}

extension ConsumerRecord {
  var text: String { String(decoding: value ?? [], as: UTF8.self) }
}

extension ProducerRecord {
  /// A record of text.
  init(_ topic: String, _ text: String, partition: Int32? = 0, key: String? = nil, timestamp: Int64? = nil) {
    self.init(
      topic: topic, partition: partition, key: key.map { Array($0.utf8) }, value: Array(text.utf8),
      timestamp: timestamp)
  }
}
