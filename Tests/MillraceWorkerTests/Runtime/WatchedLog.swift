// Wraps the in-memory log so that a test observes every call of a worker before it is made, and drives the poll loop of
// its group.

import MillraceTime
import KafkaClient
@testable import MillraceRecords
import MillraceTesting
import Synchronization

/// Observes the calls of a process to its log, and simulates its poll loop.
final class LogWatch: Sendable {
  private struct State {
    var calls = 0
    var isServing = false
    var lastTurn: MillraceClock.Instant
  }

  private let clock: MillraceClock
  private let onCall: @Sendable (Int) -> Void
  private let state: Mutex<State>

  /// - Parameter onCall: Called before each call, with its number from 0.
  init(clock: MillraceClock, onCall: @escaping @Sendable (Int) -> Void = { _ in }) {
    self.clock = clock
    self.onCall = onCall
    state = Mutex(State(lastTurn: clock.now))
  }

  /// The number of calls.
  var calls: Int { state.withLock(\.calls) }

  func call() {
    let number = state.withLock { state in
      defer { state.calls += 1 }
      return state.calls
    }
    onCall(number)
  }

  // MARK: - The poll loop

  /// Simulates one iteration of the poll loop.
  func turn() {
    let now = clock.now
    state.withLock { $0.lastTurn = now }
  }

  fileprivate func serve(_ isServing: Bool) {
    turn()
    state.withLock { $0.isServing = isServing }
  }

  fileprivate var sinceLastTurn: Duration? {
    let now = clock.now
    return state.withLock { $0.isServing ? $0.lastTurn.duration(to: now) : nil }
  }
}

/// A log that reports its calls.
struct WatchedLog: ForwardingLog {
  let log: InMemoryLog
  let watch: LogWatch

  func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    watch.call()
    return try await log.partitionCounts(of: topics, timeout: timeout)
  }

  func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    watch.call()
    return try await log.highWatermarks(of: partitions, timeout: timeout)
  }

  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    watch.call()
    return try await log.scan(partition, from: start, to: end, upTo: limit) { page in
      watch.call()
      try await body(page)
    }
  }

  func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader {
    Reader(base: try log.makeReader(group: group, topics: topics, options: options), watch: watch)
  }

  func makeWriter() throws(KafkaError) -> any LogWriter { Writer(writer: try log.makeWriter(), watch: watch) }

  func makeTransactionalWriter(id: String, timeout: Duration) throws(KafkaError) -> any TransactionalLogWriter {
    TransactionalWriter(base: try log.makeTransactionalWriter(id: id, timeout: timeout), watch: watch)
  }
}

private struct Reader: LogReader {
  let base: any LogReader
  let watch: LogWatch

  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable { watched(base.events) }

  private func watched(
    _ events: some AsyncSequence<LogReaderEvent, Never> & Sendable
  ) -> any AsyncSequence<LogReaderEvent, Never> & Sendable {
    events.map { [watch] event in
      guard case .assigned(let partitions) = event else { return event }
      return .assigned(partitions.map { Partition(base: $0, watch: watch) })
    }
  }

  func run() async throws(KafkaError) {
    watch.call()
    watch.serve(true)
    defer { watch.serve(false) }
    try await base.run()
  }

  var sinceLastTurn: Duration? { watch.sinceLastTurn }
  func shutDown() { base.shutDown() }

  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) {
    watch.call()
    try await base.commit(offsets)
  }

  func committed(_ partitions: [TopicPartition], timeout: Duration) async throws(KafkaError) -> [CommittedOffset] {
    watch.call()
    return try await base.committed(partitions, timeout: timeout)
  }

  func groupMetadata() async throws(KafkaError) -> GroupMetadata {
    watch.call()
    return try await base.groupMetadata()
  }
}

private struct Partition: LogPartition {
  let base: any LogPartition
  let watch: LogWatch

  var partition: TopicPartition { base.partition }

  func nextPage(upTo limit: Int) async throws(KafkaError) -> LogPage? {
    watch.call()
    return try await base.nextPage(upTo: limit)
  }
}

/// The common behaviour of both kinds of writers.
private protocol WatchedWriter: LogWriter {
  var writer: any LogWriter { get }
  var watch: LogWatch { get }
}

extension WatchedWriter {
  func run() async throws(KafkaError) { try await writer.run() }
  func shutDown() { writer.shutDown() }

  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {
    watch.call()
    try await writer.prepare(topics, timeout: timeout)
  }

  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    watch.call()
    return try await writer.send(record)
  }
}

private struct Writer: WatchedWriter {
  let writer: any LogWriter
  let watch: LogWatch
}

private struct TransactionalWriter: WatchedWriter, TransactionalLogWriter {
  let base: any TransactionalLogWriter
  let watch: LogWatch

  var writer: any LogWriter { base }
  var hasUnansweredRequest: Bool { base.hasUnansweredRequest }

  func initialize(timeout: Duration) async throws(KafkaError) {
    watch.call()
    try await base.initialize(timeout: timeout)
  }

  func begin() async throws(KafkaError) {
    watch.call()
    try await base.begin()
  }

  func sendOffsets(
    _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
  ) async throws(KafkaError) {
    watch.call()
    try await base.sendOffsets(offsets, group: group, timeout: timeout)
  }

  func commit(timeout: Duration) async throws(KafkaError) {
    watch.call()
    try await base.commit(timeout: timeout)
  }

  func abort(timeout: Duration) async throws(KafkaError) {
    watch.call()
    try await base.abort(timeout: timeout)
  }
}
