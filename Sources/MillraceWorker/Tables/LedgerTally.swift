// Counters and effects of all lanes of a worker, summed by reading their ledgers.

internal import AppStore
internal import KafkaClient
internal import Synchronization
internal import MillraceCore
package import MillraceRecords

/// The counters and effects of all lanes of a worker.
public struct LedgerTally: Sendable, Hashable {
  /// Counters by name, summed over all lanes; see ``Outcome/Results/counting(_:by:)``.
  public var counters: [String: Int64] = [:]
  /// Effects by name; see ``HandlerContext/once(_:body:perform:)``.
  public var effects: [String: EffectStatus] = [:]

  /// Creates an empty tally.
  package init() {}

  /// Reads the ledgers of a worker.
  ///
  /// - Parameters:
  ///   - topics: The worker's topics.
  ///   - log: The log to read from.
  ///   - prefixes: The name prefixes of the counters and effects to return.
  /// - Throws: `KafkaError`; ``MillraceError`` for a ledger that this version cannot read.
  package static func read(
    _ topics: WorkerTopics, in log: any RecordLog, prefixes: [String]
  ) async throws -> LedgerTally {
    try await WorkerLedgers(topics: topics, log: log).tally(of: prefixes)
  }
}

extension EffectStatus {
  init(_ effect: Effect) {
    switch effect.progress {
    case .intended: self = .open(since: effect.intendedAt)
    case .ended(let result): self = .ended(result)
    }
  }
}

/// Reads the ledgers of one worker from outside its lanes.
struct WorkerLedgers: Sendable {
  let topics: WorkerTopics
  let log: any RecordLog

  private static let timeout = Duration.seconds(30)
  private static let pageSize = 10_000

  func tally(of prefixes: [String]) async throws -> LedgerTally {
    let count = try await log.partitionCounts(of: [topics.ledger], timeout: Self.timeout)[topics.ledger] ?? 0
    let partitions = (0..<Int32(clamping: count)).map { TopicPartition(topic: topics.ledger, partition: $0) }
    return try await withThrowingTaskGroup(of: LedgerTally.self) { group in
      for partition in partitions { group.addTask { try await tally(of: partition, prefixes) } }
      return try await group.reduce(into: LedgerTally()) { whole, lane in
        whole.counters.merge(lane.counters) { $0.addingReportingOverflow($1).partialValue }
        whole.effects.merge(lane.effects) { first, _ in first }
      }
    }
  }

  private func tally(of partition: TopicPartition, _ prefixes: [String]) async throws -> LedgerTally {
    let found = Mutex(LedgerTally())
    try await log.scan(partition, from: .earliest, to: .highWatermark, upTo: Self.pageSize) { page in
      for record in page where record.key.map(LedgerRecord.isNamed) ?? false {
        let entry = try LedgerRecord.entry(of: record)
        found.withLock { tally in
          switch entry {
          case .counter(let name, let count) where prefixes.contains { name.hasPrefix($0) }:
            tally.counters[name] = count
          case .effect(let name, let effect) where prefixes.contains { name.hasPrefix($0) }:
            tally.effects[name] = effect.map { EffectStatus($0) }
          case .counter, .effect, .handled, .timer, .tail, .state, .page, .owner, .erasure: break
          }
        }
      }
    }
    return found.withLock { $0 }
  }
}

extension LedgerRecord {
  /// Whether the key belongs to a counter or an effect. The first byte decides, because most entries of a ledger are
  /// neither.
  fileprivate static func isNamed(_ key: [UInt8]) -> Bool {
    key.first == UInt8(ascii: "c") || key.first == UInt8(ascii: "e")
  }

  fileprivate init(_ record: ConsumerRecord) {
    self.init(
      key: record.key ?? [], value: record.value,
      failures: record.headers.isEmpty ? nil : TimerFailures(record.headers))
  }

  /// Returns the ledger entry that a record contains.
  /// - Throws: ``MillraceError`` with the record's position.
  static func entry(of record: ConsumerRecord) throws(MillraceError) -> LedgerEntry {
    do { return try LedgerRecord(record).entry() } catch { throw error.located(record) }
  }
}

extension Ledger {
  /// Applies a record of the ledger topic, in the topic's order.
  /// - Throws: ``MillraceError`` with the record's position.
  mutating func restore(_ record: ConsumerRecord) throws(MillraceError) {
    do { try restore(LedgerRecord(record)) } catch { throw error.located(record) }
  }
}

extension LedgerRecordError {
  fileprivate func located(_ record: ConsumerRecord) -> MillraceError {
    MillraceError(
      .record, "\(self)", at: "\(record.topic)[\(record.partition)]@\(record.offset)",
      remedy: "until then the lane does not start, because it would repeat handled notifications")
  }
}
