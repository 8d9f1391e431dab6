// A log that reads another log and keeps all writes in memory. A dry run uses it in place of Kafka: the runtime works as
// usual, and nothing leaves the process.

internal import AppStore
internal import DequeModule
package import KafkaClient
internal import MillraceCore
package import MillraceRecords
internal import MillraceTime
internal import Synchronization

/// A log whose writes only its own readers see.
///
/// Each partition ends where the base ended when it was first used; records that this log writes follow. Groups have one
/// member, whose positions begin there too, so it reads only what was written here.
package final class OverlayLog: RecordLog {
  /// One partition: the offsets of the base, then the records in memory.
  private struct Partition {
    var lowest: Int64
    /// The end of the base, from which on records are in memory.
    let start: Int64
    /// The offset of the first record in memory.
    var first: Int64
    var records = Deque<ConsumerRecord>()

    init(_ range: Range<Int64>, isHidden: Bool) {
      lowest = isHidden ? range.upperBound : range.lowerBound
      (start, first) = (range.upperBound, range.upperBound)
    }

    var end: Int64 { first + Int64(records.count) }

    func page(from offset: Int64, upTo limit: Int) -> [ConsumerRecord] {
      Array(records.dropFirst(Int(max(0, offset - first))).prefix(limit))
    }
  }

  private struct State {
    var partitions: [TopicPartition: Partition] = [:]
    var counts: [String: Int] = [:]
    var bytes = 0
    /// The highest value of ``bytes`` so far.
    var mostBytes = 0
    /// Grows with every change that a waiting task may wait for.
    var version: UInt64 = 0
    var waiters: [UInt64: CheckedContinuation<Void, Never>] = [:]
    var lastWaiter: UInt64 = 0
  }

  private let base: any RecordLog
  private let hidden: Set<String>
  private let limit: Int
  private let state = Mutex(State())

  private static let timeout = Duration.seconds(30)

  /// - Parameters:
  ///   - hidden: The topics whose records in the base are invisible. A record that the group has read is dropped there.
  ///   - limit: The number of bytes to keep in memory; see ``check()``.
  package init(_ base: any RecordLog, hiding hidden: Set<String>, limit: Int) {
    (self.base, self.hidden, self.limit) = (base, hidden, limit)
  }

  /// Neither transactions nor static members: one process is the only writer and reader.
  package var description: LogDescription {
    LogDescription(
      clusterID: base.description.clusterID,
      capabilities: base.description.capabilities.subtracting([.transactions, .staticMembership]))
  }

  /// Checks that the records in memory do not exceed the limit.
  /// - Throws: ``MillraceError``.
  func check() throws(MillraceError) {
    let bytes = state.withLock(\.mostBytes)
    guard bytes > limit else { return }
    throw MillraceError(
      .lifecycle,
      "the dry run keeps \(bytes >> 20) MiB of records in memory, more than its limit of \(limit >> 20) MiB",
      at: "--dry-run", remedy: "select fewer records, or pass --limit")
  }

  /// Returns the records that were written to a topic and not dropped, by partition and in order.
  func written(to topic: String) -> [ConsumerRecord] {
    state.withLock { state in
      state.partitions.filter { $0.key.topic == topic }.sorted { $0.key < $1.key }.flatMap { $0.value.records }
    }
  }

  /// The end of each partition that was used, by topic and partition.
  var ends: [TopicPartition: Int64] { state.withLock { $0.partitions.mapValues(\.end) } }

  // MARK: - Reading

  package func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    try await base.partitionCounts(of: topics, timeout: timeout)
  }

  package func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    let new = state.withLock { state in partitions.filter { state.partitions[$0] == nil } }
    let ranges = new.isEmpty ? [:] : try await base.highWatermarks(of: new, timeout: timeout)
    return state.withLock { state in
      for (partition, range) in ranges where state.partitions[partition] == nil {
        state.partitions[partition] = Partition(range, isHidden: hidden.contains(partition.topic))
      }
      return Dictionary(
        uniqueKeysWithValues: Set(partitions).compactMap { name in
          state.partitions[name].map { (name, $0.lowest..<$0.end) }
        })
    }
  }

  package func offsets(
    of partitions: [TopicPartition], since time: Int64, timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Int64] {
    try await base.offsets(of: partitions.filter { !hidden.contains($0.topic) }, since: time, timeout: timeout)
  }

  @discardableResult
  package func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    guard let range = try await highWatermarks(of: [partition], timeout: Self.timeout)[partition] else {
      throw KafkaError(
        code: .unknownTopicOrPartition, operation: "read \(partition)", reason: "the partition does not exist")
    }
    let baseEnd = state.withLock { $0.partitions[partition]?.start ?? 0 }
    let last: Int64 =
      switch end {
      case .highWatermark: range.upperBound
      case .offset(let offset): offset
      case .never: .max
      }
    var next =
      switch start {
      case .earliest: range.lowerBound
      case .latest: range.upperBound
      case .offset(let offset): max(offset, range.lowerBound)
      }
    if next < min(baseEnd, last) {
      next = try await base.scan(partition, from: .offset(next), to: .offset(min(baseEnd, last)), upTo: limit, body)
    }
    while next < last {
      try Task.checkCancellation()
      let (page, version) = look(at: partition, from: next, upTo: Int(min(Int64(limit), last - next)))
      if page.isEmpty {
        await changed(since: version)
      } else {
        try await body(page)
        next = (page.last?.offset ?? next) + 1
      }
    }
    return next
  }

  /// Returns the ends of the base.
  fileprivate func starts(of partitions: [TopicPartition]) async throws(KafkaError) -> [TopicPartition: Int64] {
    _ = try await highWatermarks(of: partitions, timeout: Self.timeout)
    return state.withLock { state in
      state.partitions.filter { partitions.contains($0.key) }.mapValues(\.start)
    }
  }

  /// Returns records in memory, and the version of the state that has them.
  fileprivate func look(
    at partition: TopicPartition, from offset: Int64, upTo limit: Int
  ) -> (page: [ConsumerRecord], version: UInt64) {
    state.withLock { state in
      (state.partitions[partition]?.page(from: offset, upTo: limit) ?? [], state.version)
    }
  }

  /// Drops the records of a hidden topic before an offset, because the group has read them.
  fileprivate func drop(before offset: Int64, of partition: TopicPartition) {
    guard hidden.contains(partition.topic) else { return }
    state.withLock { state in
      while let old = state.partitions[partition]?.records.first, old.offset < offset {
        state.bytes -= old.memory
        state.partitions[partition]?.records.removeFirst()
        state.partitions[partition]?.first += 1
        state.partitions[partition]?.lowest = old.offset + 1
      }
    }
  }

  /// Waits until the state has another version, or the task is cancelled.
  fileprivate func changed(since version: UInt64) async {
    let waiter = state.withLock { state in
      state.lastWaiter += 1
      return state.lastWaiter
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard state.version == version, !Task.isCancelled else { return true }
          state.waiters[waiter] = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
    }
  }

  /// Wakes all waiting tasks after a change.
  fileprivate func wake() {
    let waiters = state.withLock { state in
      state.version += 1
      defer { state.waiters = [:] }
      return state.waiters.values
    }
    for waiter in waiters { waiter.resume() }
  }

  // MARK: - Writing

  package func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader { OverlayReader(self, topics) }

  package func makeWriter() throws(KafkaError) -> any LogWriter { OverlayWriter(self) }

  package func makeTransactionalWriter(
    id: String, timeout: Duration
  ) throws(KafkaError) -> any TransactionalLogWriter {
    throw KafkaError(code: .unsupported, operation: "create a producer", reason: "a dry run has no transactions")
  }

  fileprivate func append(_ records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    let counts = try await counts(of: Set(records.map(\.topic)))
    let placed = records.map { record in
      let chosen = record.key.map { Murmur2.partition(of: $0, among: counts[record.topic] ?? 1) } ?? 0
      return (TopicPartition(topic: record.topic, partition: record.partition ?? chosen), record)
    }
    _ = try await highWatermarks(of: placed.map(\.0), timeout: Self.timeout)
    let now = MillraceClock.system.wallTime.millisecondsSince1970
    let positions = state.withLock { state in
      placed.map { name, record in
        let offset = state.partitions[name]?.end ?? 0
        let kept = ConsumerRecord(
          topic: name.topic, partition: name.partition, offset: offset, timestamp: record.timestamp ?? now,
          key: record.key, value: record.value, headers: record.headers)
        state.partitions[name]?.records.append(kept)
        state.bytes += kept.memory
        state.mostBytes = max(state.mostBytes, state.bytes)
        return RecordPosition(topic: name.topic, partition: name.partition, offset: offset)
      }
    }
    wake()
    return positions
  }

  private func counts(of topics: Set<String>) async throws(KafkaError) -> [String: Int] {
    let unknown = state.withLock { state in topics.filter { state.counts[$0] == nil } }
    if !unknown.isEmpty {
      let found = try await base.partitionCounts(of: Array(unknown), timeout: Self.timeout)
      if let missing = unknown.first(where: { found[$0] == nil }) {
        throw KafkaError(
          code: .unknownTopicOrPartition, operation: "write to \(missing)", reason: "the topic does not exist")
      }
      state.withLock { $0.counts.merge(found) { $1 } }
    }
    return state.withLock(\.counts)
  }
}

/// Writes to the memory of an overlay.
private final class OverlayWriter: LogWriter {
  private let log: OverlayLog
  private let isOver = Latch()

  init(_ log: OverlayLog) { self.log = log }

  func run() async throws(KafkaError) { await isOver.waitOrCancel() }
  func shutDown() { isOver.open() }
  func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {}

  func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
    guard let position = try await log.append([record]).first else {
      throw KafkaError(code: .closed, operation: "write to \(record.topic)", reason: "the dry run is over")
    }
    return position
  }

  func send(contentsOf records: [ProducerRecord]) async throws(KafkaError) -> [RecordPosition] {
    try await log.append(records)
  }
}

/// The only member of a group. It owns all partitions.
private final class OverlayReader: LogReader {
  private let log: OverlayLog
  private let topics: [String]
  private let stream: AsyncStream<LogReaderEvent>
  private let feed: AsyncStream<LogReaderEvent>.Continuation
  private let isOver = Latch()

  init(_ log: OverlayLog, _ topics: [String]) {
    (self.log, self.topics) = (log, topics)
    (stream, feed) = AsyncStream.makeStream()
  }

  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable { stream }

  /// The lanes end without a revocation, because no other member takes them over.
  func run() async throws(KafkaError) {
    defer { feed.finish() }
    let starts = try await log.starts(of: try await log.partitions(of: topics))
    feed.yield(.assigned(starts.map { OverlayPartition(log, $0.key, from: $0.value) }))
    await isOver.waitOrCancel()
  }

  func shutDown() { isOver.open() }
  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) {}

  /// Returns the ends of the base.
  func committed(_ partitions: [TopicPartition], timeout: Duration) async throws(KafkaError) -> [CommittedOffset] {
    try await log.starts(of: partitions).map { CommittedOffset($0, offset: $1) }
  }

  func groupMetadata() async throws(KafkaError) -> GroupMetadata { GroupMetadata(bytes: []) }
}

/// A partition of the only member.
private final class OverlayPartition: LogPartition {
  let partition: TopicPartition
  private let log: OverlayLog
  private let next: Mutex<Int64>

  init(_ log: OverlayLog, _ partition: TopicPartition, from start: Int64) {
    (self.log, self.partition) = (log, partition)
    next = Mutex(start)
  }

  func nextPage(upTo limit: Int) async throws(KafkaError) -> LogPage? {
    let start = next.withLock { $0 }
    log.drop(before: start, of: partition)
    while !Task.isCancelled {
      let (page, version) = log.look(at: partition, from: start, upTo: limit)
      if let last = page.last {
        next.withLock { $0 = last.offset + 1 }
        return LogPage(records: page, end: last.offset + 1 == log.ends[partition] ? last.offset + 1 : nil)
      }
      await log.changed(since: version)
    }
    return nil
  }
}

extension Latch {
  /// Waits until the latch is open or the task is cancelled.
  fileprivate func waitOrCancel() async { do { try await wait() } catch {} }
}

extension ConsumerRecord {
  /// The approximate memory use, in bytes.
  fileprivate var memory: Int {
    headers.reduce(256 + (key?.count ?? 0) + (value?.count ?? 0)) { $0 + $1.name.utf8.count + ($1.value?.count ?? 0) }
  }
}
