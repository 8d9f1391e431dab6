// An operator's commands to a worker, written to `millrace.operations`, and their results. The lanes' owners execute
// the commands and send the records. This code sends none itself, because two senders would send each record twice.

internal import AppStore
public import MillraceTime
package import KafkaClient
package import MillraceCore
public import MillraceRecords
package import MillraceWorker

/// Sends commands to the lanes of one worker.
public struct WorkerOperations: Sendable {
  let log: any RecordLog
  let topics: WorkerTopics
  let prefix: String
  let author: String
  private let source: String
  let clock: MillraceClock
  let note: @Sendable (String) -> Void

  static let timeout = Duration.seconds(15)
  static let pageSize = 1_000

  /// Creates the operations of a worker on a record log.
  ///
  /// - Parameters:
  ///   - worker: The worker's name.
  ///   - prefix: The prefix of every topic name.
  ///   - author: The operator. Others see the name if their command for the same item comes later.
  ///   - source: The name of this program in the audit trail.
  ///   - note: Receives messages for people, such as the number of skipped records.
  /// - Throws: ``OperationError`` if the name is not a valid worker name.
  public init(
    worker: String, prefix: String, on log: any RecordLog, author: String, source: String = "millrace",
    clock: MillraceClock = .system, note: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(OperationError) {
    guard WorkerEntry.isName(worker) else {
      throw OperationError(
        .usage, "`\(worker)` is not a valid worker name", at: "--worker",
        remedy: "use a name listed under `workers` in the configuration")
    }
    self.log = log
    topics = WorkerTopics(worker: worker, inputs: [], delays: [], prefix: prefix)
    self.prefix = prefix
    self.author = author
    self.source = source
    self.clock = clock
    self.note = note
  }

  /// The worker's name.
  package var name: String { topics.worker }

  /// The operations of several workers.
  ///
  /// - Parameter names: The workers' names; nil: every worker of the configured topics whose topics exist.
  /// - Throws: ``OperationError`` if a name is not a valid worker name; `KafkaError`, `MillraceError`.
  package static func all(
    _ names: [String]?, _ configuration: MillraceConfiguration, on log: any RecordLog,
    note: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> [WorkerOperations] {
    let prefix = configuration.topics.prefix
    guard let names else {
      return try await present(in: log, among: try TopicCatalog.load(configuration), prefix: prefix, note: note)
    }
    return try names.map { name throws(OperationError) in
      try WorkerOperations(worker: name, prefix: prefix, on: log, author: "", note: note)
    }
  }

  /// The workers of a catalog whose topics exist, sorted by name.
  package static func present(
    in log: any RecordLog, among catalog: TopicCatalog, prefix: String, author: String = "",
    note: @escaping @Sendable (String) -> Void = { _ in }
  ) async throws -> [WorkerOperations] {
    let (before, behind) = ("millrace.", ".dead-letters")
    let names = catalog.topics.map(\.name).filter { $0.hasPrefix(before) && $0.hasSuffix(behind) }
      .map { String($0.dropFirst(before.count).dropLast(behind.count)) }.filter { WorkerEntry.isName($0) }
    let all = try names.sorted().map { name throws(OperationError) in
      try WorkerOperations(worker: name, prefix: prefix, on: log, author: author, note: note)
    }
    let counts = try await log.partitionCounts(of: all.map(\.topics.deadLetters), timeout: timeout)
    return all.filter { worker in
      let isPresent = counts[worker.topics.deadLetters] != nil
      if !isPresent { note("left out \(worker.name): \(OperationError.missing(worker.topics.deadLetters))") }
      return isPresent
    }
  }

  /// Requeues or discards dead letters.
  ///
  /// - Parameters:
  ///   - why: The operator's reason, which is stored with the record.
  ///   - rate: The maximum number of commands per second; nil for no limit.
  ///   - patience: The maximum time without an answer from the lanes' owners. Unanswered commands remain in effect.
  ///   - begun: Receives the run's ID before the first command is sent.
  ///   - report: Receives the steps of each command.
  /// - Throws: ``OperationError`` for an ID without a dead letter, before any command is sent; `KafkaError`.
  package func settle(
    _ ids: [DeadLetterID], by action: OperationReport.Action, why: String, selection: RecordSelection? = nil,
    rate: Int? = nil, patience: Duration, begun: @Sendable (String) throws -> Void = { _ in },
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    var seen: Set<DeadLetterID> = []
    let ids = ids.filter { seen.insert($0).inserted }
    try await check(ids)
    guard !ids.isEmpty else { return OperationSummary(action: action) }
    let (run, now) = (CommandID.new(), clock.wallTime)
    let commands = ids.map { id in
      OperationCommand(
        id: CommandID.new(), run: run, item: OperationCommand.deadLetter(lane: id.lane, offset: id.offset),
        worker: topics.worker, lane: id.lane, action: action == .requeue ? .requeue : .discard, why: why, by: author,
        at: now)
    }
    var chosen = selection?.json ?? ["ids": .array(ids.map { .string("\($0)") })]
    chosen["rate"] = rate.map { .integer(Int64($0)) }
    return try await execute(
      commands, of: run, action, choosing: chosen, why: why, rate: rate, patience: patience, begun: begun,
      report: report)
  }

  /// Sends the commands of a run, waits for their results, and writes both to the audit trail.
  func execute(
    _ commands: [OperationCommand], of run: String, _ action: OperationReport.Action, choosing chosen: JSONObject,
    why: String, rate: Int?, patience: Duration, begun: @Sendable (String) throws -> Void,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    let now = clock.wallTime
    let audit = AuditLog(on: log, prefix: prefix)
    func record(_ phase: AuditRecord.Phase, at time: Timestamp) -> AuditRecord {
      AuditRecord(
        run: run, AuditRecord.Action(rawValue: action.rawValue), phase, by: author, source: source, at: time, why: why,
        target: topics.worker, selection: chosen)
    }
    try await audit.append([record(.started(parts: 1), at: now)])
    let follower = OperationsFollower(worker: topics.worker, action, commands, clock: clock, report: report)
    var summary: OperationSummary
    do {
      try begun(run)
      try await submit(to: follower, run: run, rate: rate, patience: patience)
      summary = try await follower.conclude()
    } catch {
      let counts = await follower.status.counts
      await audit.endEarly(by: error) {
        record(.ended(part: AuditRecord.everything, result: $0, counts: counts), at: clock.wallTime)
      }
      throw error
    }
    summary.run = run
    let result: AuditRecord.Result = summary.withheld > 0 ? .stopped : .done
    try await audit.append([
      record(.ended(part: "commands", result: result, counts: summary.counts), at: clock.wallTime)
    ])
    return summary
  }

  /// Requeues dead letters; see ``settle(_:by:why:selection:rate:patience:begun:report:)``.
  package func requeue(
    _ ids: [DeadLetterID], why: String, patience: Duration,
    report: @escaping @Sendable (OperationReport) throws -> Void
  ) async throws -> OperationSummary {
    try await settle(ids, by: .requeue, why: why, patience: patience, report: report)
  }

  /// Pauses, resumes or stops a run of commands of another process. A stop also ends a run whose process has died;
  /// commands that were already sent remain in effect.
  /// - Returns: Whether this call ended the run.
  /// - Throws: ``OperationError`` if the audit trail does not contain the run, or the run is over.
  @discardableResult
  package func control(_ name: String, _ verb: RunVerb) async throws -> Bool {
    let (audit, now) = (AuditLog(on: log, prefix: prefix), clock.wallTime)
    let runs = try await audit.survey(at: now).lines().filter { [.requeue, .discard].contains($0.entry.action) }
    let line = try runs.named(
      name, remedy: "copy the id from the output of requeue or discard, or from millrace audit"
    ) { $0.entry.run }
    let run = line.entry
    guard !run.isOver else {
      throw OperationError(.usage, "the run is over", at: run.run, remedy: "no action is needed")
    }
    try await audit.append([
      AuditRecord(
        run: run.run, verb.action, .started(parts: 0), by: author, source: source, at: now, target: run.run)
    ])
    let control = RunControl(run: run.run, verb, by: author, at: now)
    try await log.append([OperationsRecord.control(control).producerRecord(topics.operations)])
    guard verb == .stop, case .silent = line.status else { return false }
    let counts = try await status(of: run).counts
    try await audit.append([run.end(.stopped, counts, by: author, source: source, at: clock.wallTime)])
    return true
  }

  /// The results of the commands that a run has sent.
  private func status(of run: AuditEntry) async throws -> OperationSummary {
    let empty = (log: OperationsLog(worker: run.target ?? topics.worker), passedOver: PassedOver())
    let content = TopicTable(operations.topic, in: log, empty) { said, record in
      if let operation = said.passedOver.read(record) { _ = said.log.fold(operation) }
    }
    var summary = OperationSummary(action: run.action == .discard ? .discard : .requeue)
    let (said, passedOver) = try await content.current()
    summary.passedOver = passedOver
    for status in said.all.values where status.command.run == run.run {
      switch status.outcome {
      case .done?: summary.done += 1
      case .failed?: summary.failed += 1
      case .progress?, .stopped?, nil: summary.unanswered += 1
      }
    }
    return summary
  }

  func check(_ ids: [DeadLetterID]) async throws {
    let present = try await present(ids)
    if let id = ids.first(where: { !present.contains($0) }) { throw missing(id) }
  }

  func missing(_ id: DeadLetterID) -> OperationError {
    OperationError(
      .usage, "the worker \(topics.worker) has no such dead letter", at: "\(id)",
      remedy: "copy an id from millrace dead-letters list --each --worker \(topics.worker)")
  }

  /// Returns the IDs whose offsets the dead-letter topic holds.
  private func present(_ ids: [DeadLetterID]) async throws -> Set<DeadLetterID> {
    let lanes = try await lanes()
    let partitions = Set(ids.map(\.lane)).filter { $0 < lanes }.map {
      TopicPartition(topic: topics.deadLetters, partition: $0)
    }
    let ranges = try await ranges(of: partitions)
    return Set(
      ids.filter { id in
        ranges[TopicPartition(topic: topics.deadLetters, partition: id.lane)]?.contains(id.offset) ?? false
      })
  }

  /// Returns the record at the position of a dead letter; nil if the topic does not hold it.
  /// - Throws: ``OperationError`` if the worker's topics do not exist; `KafkaError`.
  package func record(of id: DeadLetterID) async throws -> ConsumerRecord? {
    guard try await present([id]).contains(id) else { return nil }
    return try await log.record(at: id.offset, of: TopicPartition(topic: topics.deadLetters, partition: id.lane))
  }

  /// The number of lanes.
  /// - Throws: ``OperationError`` if the worker's topics do not exist.
  func lanes() async throws -> Int {
    let names = [topics.deadLetters, topics.replay, topics.operations]
    let counts = try await log.partitionCounts(of: names, timeout: Self.timeout)
    for name in names where counts[name] == nil {
      throw OperationError.missing(
        name, remedy: "check --worker; for a new worker, add it to `workers` and run millrace topics apply")
    }
    return counts[topics.replay] ?? 0
  }

  func ranges(of partitions: [TopicPartition]) async throws -> [TopicPartition: Range<Int64>] {
    try await log.highWatermarks(of: partitions, timeout: Self.timeout)
  }

  var operations: TopicPartition { TopicPartition(topic: topics.operations, partition: 0) }

  /// Sends the commands for items that have none yet, and follows the topic until all commands have results.
  private func submit(
    to follower: OperationsFollower, run: String, rate: Int?, patience: Duration
  ) async throws {
    // Read the earlier commands first: an item with a command gets no second one.
    let end = try await log.scan(operations, from: .earliest, to: .highWatermark, upTo: Self.pageSize) { page in
      _ = try await follower.fold(page)
    }
    let free = try await follower.giveUpTaken()
    if !free.isEmpty {
      try await log.withWriter { writer in
        try await follow(follower, from: end, patience: patience) {
          try await give(free, run: run, rate: rate, to: follower, writer)
        }
      }
    }
  }

  /// Sends commands at a limited rate, and pauses or stops if an operator asks for it.
  /// - Returns: Whether there is nothing left to wait for.
  private func give(
    _ commands: [OperationCommand], run: String, rate: Int?, to follower: OperationsFollower, _ writer: any LogWriter
  ) async throws -> Bool {
    var pace = ReplayPace()
    var rest = commands[...]
    let rate = rate.map(Double.init)
    while !rest.isEmpty {
      switch await follower.control(on: run) {
      case .stop?: return await follower.withhold(rest)
      case .pause?:
        await follower.heard()
        try await clock.sleep(until: clock.now.advanced(by: .milliseconds(200)))
        continue
      case .resume?, nil: break
      }
      if let due = pace.due(now: clock.now) {
        await follower.heard()
        // Sleep in small steps, to react to an operator's request at once.
        try await clock.sleep(until: min(due, clock.now.advanced(by: .milliseconds(200))))
        continue
      }
      let page = rest.prefix(ReplayPace.batch(at: rate, limit: Self.pageSize))
      await follower.ask(page)
      _ = try await writer.send(
        contentsOf: page.map { OperationsRecord.command($0).producerRecord(topics.operations) })
      rest = rest.dropFirst(page.count)
      pace.sent(page.count, at: rate, now: clock.now)
      await follower.heard()
    }
    return false
  }

  private func follow(
    _ follower: OperationsFollower, from start: Int64, patience: Duration,
    giving: @escaping @Sendable () async throws -> Bool
  ) async throws {
    struct Settled: Error {}
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask { [log, operations] in
        do {
          try await log.scan(operations, from: .offset(start), to: .never, upTo: Self.pageSize) { page in
            if try await follower.fold(page) { throw Settled() }
          }
        } catch is Settled {
          // All commands have results.
        }
        return true
      }
      group.addTask {
        try await follower.waitForSilence(of: patience)
        return true
      }
      group.addTask { try await giving() }
      defer { group.cancelAll() }
      while let isOver = try await group.next(), !isOver {}
    }
  }
}

extension OperationSummary {
  /// The counts for the audit trail.
  var counts: [AuditRecord.Count] {
    [
      AuditRecord.Count(action.count, Int64(done)),
      AuditRecord.Count("failed", Int64(failed)), AuditRecord.Count("lost", Int64(lost)),
      AuditRecord.Count("unanswered", Int64(unanswered)), AuditRecord.Count("withheld", Int64(withheld)),
    ]
  }
}

/// Generates command IDs: UUIDs, version 4 (RFC 9562).
package enum CommandID {
  package static func new() -> String {
    var generator = SystemRandomNumberGenerator()
    var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    bytes[6] = bytes[6] & 0x0F | 0x40
    bytes[8] = bytes[8] & 0x3F | 0x80
    let digits = bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
    return [0..<4, 4..<6, 6..<8, 8..<10, 10..<16].map { digits[$0].joined() }.joined(separator: "-")
  }
}
