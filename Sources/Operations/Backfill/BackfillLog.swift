// Reads and writes the topic of backfill runs for commands, the console and `--follow`.

package import AppStore
internal import KafkaClient
package import MillraceRecords
package import MillraceWorker

/// The backfill runs of a deployment.
package struct BackfillLog: Sendable {
  package let log: any RecordLog
  let prefix: String
  private let content: TopicTable<BackfillTable>

  private static let timeout = Duration.seconds(15)

  /// Creates a log of runs on a record log.
  /// - Parameter prefix: The prefix of every topic name.
  package init(on log: any RecordLog, prefix: String) {
    self.log = log
    self.prefix = prefix
    content = TopicTable(prefix + BackfillRecord.topic, in: log, BackfillTable()) { $0.fold($1) }
  }

  /// Reads the whole topic.
  /// - Throws: ``OperationError`` if the topic does not exist; `KafkaError`.
  package func table() async throws -> BackfillTable {
    try await require([BackfillRecord.topic])
    return try await content.current()
  }

  /// Reads the whole topic without checking that it exists, for repeated reads.
  func current() async throws -> BackfillTable { try await content.current() }

  /// Finds a run by its ID or by a unique prefix of it.
  /// - Throws: ``OperationError`` if no run or more than one run matches.
  package func run(_ id: String, in table: BackfillTable) throws(OperationError) -> BackfillRun {
    try table.runs.named(id, remedy: "copy an id from millrace backfill list") { $0.id }
  }

  /// Records an operator's request to pause, resume or stop a run. A stop also ends a run that no process works on.
  ///
  /// - Parameters:
  ///   - source: The name of this program in the audit trail.
  ///   - time: The current time on the notifications' clock.
  ///   - pulse: The current time on the operators' clock.
  /// - Returns: Whether this call ended the run.
  /// - Throws: ``OperationError`` if the run is over.
  @discardableResult
  package func control(
    _ verb: RunVerb, of run: BackfillRun, by: String, source: String = "millrace", at time: Timestamp,
    pulse: Timestamp
  ) async throws -> Bool {
    guard !run.state.isOver else {
      throw OperationError(
        .failed, "the run is already \(run.state.rawValue)", at: run.id, remedy: "start a new run for the rest")
    }
    try await AuditLog(on: log, prefix: prefix).append([
      AuditRecord(
        run: run.id, verb.action, .started(parts: 1), by: by, source: source, at: time, target: "backfill"),
      AuditRecord(
        run: run.id, verb.action, .ended(part: "wish", result: .done, counts: []), by: by, source: source, at: time,
        target: "backfill"),
    ])
    try await log.append([BackfillRecord.control(run: run.id, verb, by: by, at: time).record(prefix: prefix)])
    guard verb == .stop, !run.isAlive(at: pulse) else { return false }
    // A process that was only unreachable finds out that it no longer owns the run.
    var own = run
    (own.claim, own.owner) = (run.claim + 1, source)
    let ended = await BackfillProgress(own, try await content.current()).end(.stopped, at: pulse)
    let (audit, rest) = ending(of: ended, at: time)
    try await log.append([audit])
    try await log.append(rest)
    return true
  }

  /// The records that end a run. The audit record comes first, so a run that is over is never ended a second time. The
  /// rest are the run itself and tombstones for the progress of its slices.
  func ending(of run: BackfillRun, at time: Timestamp) -> (audit: ProducerRecord, rest: [ProducerRecord]) {
    let counts = run.counts.members.map { AuditRecord.Count($0, Int64($1)) }
    let audit = run.audit(.ended(part: "all", result: run.state == .done ? .done : .stopped, counts: counts), at: time)
    let stale = run.slices.map { slice -> ProducerRecord in
      var record = BackfillRecord.mark(run: run.id, slice: slice.number, BackfillMark()).record(prefix: prefix)
      record.value = nil
      return record
    }
    return (audit.producerRecord(prefix: prefix), [BackfillRecord.run(run).record(prefix: prefix)] + stale)
  }

  /// Throws if one of these topics, named without prefix, does not exist.
  func require(_ names: [String]) async throws {
    let topics = names.map { prefix + $0 }
    let present = try await log.partitionCounts(of: topics, timeout: Self.timeout)
    guard let missing = topics.first(where: { present[$0] == nil }) else { return }
    throw OperationError.missing(missing)
  }
}

extension BackfillRun {
  /// The audit record of a run. A failed run has no end, because it can be continued.
  func audit(_ phase: AuditRecord.Phase, at time: Timestamp) -> AuditRecord {
    AuditRecord(run: id, .backfill, phase, by: by, source: "millrace", at: time, selection: selection.json)
  }
}
