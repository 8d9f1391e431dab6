// The outcomes of notifications in the records of a ledger topic, for readers that own no lane.

package import KafkaClient
package import MillraceRecords

/// The newest known outcome of each notification or event of a worker.
package struct LedgerOutcomes: Sendable {
  /// The outcome of a notification.
  package enum Outcome: Sendable, Hashable {
    /// The worker has finished it, even if there was nothing to do. If it delivered a message, this is the HTTP status
    /// with which the receiver accepted it.
    case done(status: Int? = nil)
    /// It waits after this number of attempts.
    case delayed(attempts: Int)
    /// It is a dead letter.
    case dead
  }

  private var entries: [LedgerKey: Handled] = [:]
  /// The notifications to keep; nil: all.
  private var wanted: Set<LedgerKey>?

  /// No outcomes.
  package init() {}

  /// No outcomes, of these notifications only.
  init(of wanted: Set<LedgerKey>) { self.wanted = wanted }

  /// Returns the newest entry of a notification.
  subscript(id: LedgerKey) -> Handled? { entries[id] }

  private static let timeout = Duration.seconds(15)
  private static let pageSize = 5_000

  /// Reads the newest outcomes of notifications or events from the ledgers of a worker.
  ///
  /// - Parameter ids: Their `ce_id`s.
  /// - Throws: `KafkaError`; `CancellationError`.
  package static func read(of ids: Set<String>, by topics: WorkerTopics, in log: any RecordLog) async throws -> Self {
    try await read(of: Set(ids.map { LedgerKey(id: $0) }), by: topics, in: log)
  }

  static func read(of wanted: Set<LedgerKey>, by topics: WorkerTopics, in log: any RecordLog) async throws -> Self {
    var outcomes = LedgerOutcomes(of: wanted)
    guard !wanted.isEmpty else { return outcomes }
    for partition in try await log.partitions(of: [topics.ledger], timeout: timeout) {
      outcomes = try await log.fold(partition, upTo: pageSize, into: outcomes) { outcomes, page in
        for record in page { outcomes.take(record) }
      }
    }
    return outcomes
  }

  /// Adds the outcomes in a record, and skips an unreadable one. Later records replace earlier ones.
  package mutating func take(_ record: ConsumerRecord) {
    guard let key = record.key, let first = key.first else { return }
    guard first == LedgerKind.handled.rawValue || first == LedgerKind.page.rawValue else { return }
    let entry: LedgerEntry
    do { entry = try LedgerEntry(key: key, value: record.value) } catch { return }
    if let handled: Handled = entry.content() { keep(handled, of: entry.name.digest) }
    if let page: LedgerPage = entry.content() { for line in page.lines { keep(line.handled, of: line.id) } }
  }

  private mutating func keep(_ handled: Handled, of id: LedgerKey) {
    if wanted?.contains(id) ?? true { entries[id] = handled }
  }

  /// Adds the outcomes of older records, which replace nothing.
  package mutating func add(older: LedgerOutcomes) { entries.merge(older.entries) { newer, _ in newer } }

  /// The outcome of a notification or event by its `ce_id`; nil if these records do not have it.
  package func outcome(of id: String) -> Outcome? {
    switch entries[LedgerKey(id: id)]?.state {
    case .done(let digest)?: .done(status: OutcomeDigest.status(of: digest))
    case .delayed(let attempts, _)?: .delayed(attempts: attempts)
    case .dead?: .dead
    case nil: nil
    }
  }
}
