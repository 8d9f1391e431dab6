// The topic of runs as commands, the console and `--follow` read and write it.

public import AppStore
internal import Kafka
public import Millrace

/// The runs of a deployment.
public struct BackfillLog: Sendable {
  let log: any RecordLog
  let prefix: String
  private let content: TopicTable<BackfillTable>

  private static let timeout = Duration.seconds(15)

  /// The runs on a log.
  /// - Parameter prefix: Put before every topic's name.
  public init(on log: any RecordLog, prefix: String) {
    self.log = log
    self.prefix = prefix
    content = TopicTable(prefix + BackfillRecord.topic, in: log, BackfillTable()) { $0.fold($1) }
  }

  /// Everything that stands in the topic now.
  /// - Throws: ``OperationError`` where the topic is not there; `KafkaError`.
  public func table() async throws -> BackfillTable {
    try await require([BackfillRecord.topic])
    return try await content.current()
  }

  /// The same, for those who ask again.
  func current() async throws -> BackfillTable { try await content.current() }

  /// A run by its id, or by what only its id begins with.
  /// - Throws: ``OperationError`` where there is none or there are several.
  public func run(_ id: String, in table: BackfillTable) throws(OperationError) -> BackfillRun {
    if let run = table[id] { return run }
    let alike = table.runs.filter { $0.id.hasPrefix(id) }
    if !id.isEmpty, let only = alike.first, alike.count == 1 { return only }
    throw OperationError(
      .usage, alike.count > 1 ? "several runs begin so" : "no such run", at: id,
      remedy: "copy an id from millrace backfill list")
  }

  /// Says what an operator wants of a run, on the record. A stop ends a run itself that no process works on.
  ///
  /// - Parameters:
  ///   - source: How the audit trail names this program.
  ///   - time: Now, in the time that notifications live in.
  ///   - pulse: Now, in the time that operators live in.
  /// - Returns: whether it ended the run.
  /// - Throws: ``OperationError`` where the run is over.
  @discardableResult
  public func wish(
    _ wish: RunVerb, for run: BackfillRun, by: String, source: String = "millrace", at time: Timestamp,
    pulse: Timestamp
  ) async throws -> Bool {
    guard !run.state.isOver else {
      throw OperationError(
        .failed, "it is \(run.state.rawValue)", at: run.id, remedy: "start a new run for what is missing")
    }
    try await AuditLog(on: log, prefix: prefix).append([
      AuditRecord(
        run: run.id, wish.action, .started(parts: 1), by: by, source: source, at: time, target: "backfill"),
      AuditRecord(
        run: run.id, wish.action, .ended(part: "wish", result: .done, counts: []), by: by, source: source, at: time,
        target: "backfill"),
    ])
    try await log.append([BackfillRecord.wish(run: run.id, wish, by: by, at: time).record(prefix: prefix)])
    guard wish == .stop, !run.isAlive(at: pulse) else { return false }
    // A process that was only away finds that the run is not its own any more.
    var own = run
    (own.claim, own.owner) = (run.claim + 1, source)
    let ended = await BackfillProgress(own, try await content.current()).end(.stopped, at: pulse)
    let (audit, rest) = ending(of: ended, at: time)
    try await log.append([audit])
    try await log.append(rest)
    return true
  }

  /// What is written of a run that is over: first what the audit trail is told, so that a run that is over is not ended
  /// again; then the run, and that what its slices are is of no use any more.
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

  /// Fails where one of these topics, named without prefix, is not in the cluster.
  func require(_ names: [String]) async throws {
    let topics = names.map { prefix + $0 }
    let present = try await log.partitionCounts(of: topics, timeout: Self.timeout)
    guard let missing = topics.first(where: { present[$0] == nil }) else { return }
    throw OperationError(
      .failed, "no such topic in the cluster", at: missing, remedy: "create it with millrace topics apply")
  }
}

extension BackfillRun {
  /// What the audit trail says of a run. One that failed has not ended: it can be gone on with.
  func audit(_ phase: AuditRecord.Phase, at time: Timestamp) -> AuditRecord {
    AuditRecord(run: id, .backfill, phase, by: by, source: "millrace", at: time, selection: selection.json)
  }
}
