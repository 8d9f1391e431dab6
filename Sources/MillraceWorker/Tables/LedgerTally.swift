// Counters and effects of all lanes of a worker, summed by reading their ledgers.

internal import AppStore
internal import KafkaClient
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
  /// The first bytes of the keys of counters and effects. Most entries of a ledger are neither.
  private static let firstBytes: Set = [LedgerKind.counter.rawValue, LedgerKind.effect.rawValue]

  func tally(of prefixes: [String]) async throws -> LedgerTally {
    let partitions = try await log.partitions(of: [topics.ledger], timeout: Self.timeout)
    return try await withThrowingTaskGroup(of: LedgerTally.self) { group in
      for partition in partitions { group.addTask { try await tally(of: partition, prefixes) } }
      return try await group.reduce(into: LedgerTally()) { whole, lane in
        whole.counters.merge(lane.counters) { $0.addingReportingOverflow($1).partialValue }
        whole.effects.merge(lane.effects) { first, _ in first }
      }
    }
  }

  private func tally(of partition: TopicPartition, _ prefixes: [String]) async throws -> LedgerTally {
    try await log.fold(partition, upTo: Self.pageSize, into: LedgerTally()) { tally, page in
      for record in page where record.key?.first.map(Self.firstBytes.contains) ?? false {
        let entry = try LedgerEntry(record)
        let name = entry.name.text
        guard prefixes.contains(where: { name.hasPrefix($0) }) else { continue }
        if entry.name.kind == .counter {
          tally.counters[name] = entry.content()
        } else {
          tally.effects[name] = entry.content(as: Effect.self).map { EffectStatus($0) }
        }
      }
    }
  }
}
