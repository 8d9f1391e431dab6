// Implements `millrace replay`: plans, starts, follows and controls runs. A worker copies the records of a replay to
// itself; for a replay to a topic, the program that calls ``carryOut(_:)`` copies them.

package import AppStore
public import MillraceTime
internal import KafkaClient
internal import MillraceCore
public import MillraceRecords
package import MillraceWorker
internal import Synchronization

/// The replays of one deployment.
public struct ReplayOperation: Sendable {
  let log: any RecordLog
  let prefix: String
  let author: String
  let source: String
  let clock: MillraceClock
  let recordClock: MillraceClock
  private let note: @Sendable (String) -> Void

  private static let pageSize = 1_000

  /// Creates an operation on a record log.
  ///
  /// - Parameters:
  ///   - prefix: The prefix of every topic name.
  ///   - author: The operator.
  ///   - source: The name of this program in the audit trail.
  ///   - clock: The clock for pacing and waiting.
  ///   - recordClock: The clock of the records' times, as `clock` configures it.
  ///   - note: Receives messages for people, such as the number of skipped records.
  public init(
    on log: any RecordLog, prefix: String, author: String, source: String = "millrace",
    clock: MillraceClock = .system, recordClock: MillraceClock = .system,
    note: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    (self.log, self.prefix, self.author, self.source, self.clock) = (log, prefix, author, source, clock)
    (self.recordClock, self.note) = (recordClock, note)
  }

  // MARK: - Planning

  /// Resolves a request to offsets, as of now.
  /// - Throws: ``OperationError`` that names the flag; `KafkaError`.
  public func plan(_ request: ReplayRequest) async throws -> ReplayPlan {
    if case .worker(let name) = request.target, !WorkerEntry.isName(name) {
      throw OperationError(
        .usage, "`\(name)` is not a valid worker name", at: "--worker",
        remedy: "use a name listed under `workers` in the configuration")
    }
    return try await planner.plan(request)
  }

  /// The current time on the records' clock, from which `--since` counts back.
  package var wallTime: Timestamp { recordClock.wallTime }

  /// Counts the records that a plan would send and returns samples. Sends nothing.
  public func survey(_ plan: ReplayPlan) async throws -> ReplaySurvey { try await planner.survey(plan).0 }

  private var planner: ReplayPlanner { ReplayPlanner(log: log, prefix: prefix, clock: recordClock) }
  private var operations: TopicPartition { TopicPartition(topic: prefix + "millrace.operations", partition: 0) }

  // MARK: - Beginning

  /// Starts a run: records it in the audit trail and sends the commands. If the plan has a limit, first reads the
  /// records to turn it into offsets.
  /// - Returns: The run; nil if there is nothing to send.
  package func begin(_ plan: ReplayPlan) async throws -> ReplayRun? {
    let commands = try await commands(for: plan)
    guard let first = commands.first else { return nil }
    let (request, run, now, why) = (plan.request, first.replayID, first.at, first.why)
    var book = RunBook()
    for command in commands { book.fold(command) }
    var selection = request.selection.json
    selection["limit"] = request.limit.map { .integer(Int64($0)) }
    selection["rate"] = request.rate.map { .integer(Int64($0)) }
    try await write(
      AuditRecord(
        run: run, request.reapply == nil ? .replay : .reapply, .started(parts: commands.count), by: author,
        source: source, at: now, why: why.isEmpty ? nil : why, target: "\(request.target)", selection: selection),
      commands.map { OperationsRecord.command($0).producerRecord(operations.topic) })
    return book[run]
  }

  /// Returns the commands of a new run: one for each part. If the plan has a limit, reads the records to turn it into
  /// offsets. Writes nothing.
  package func commands(for plan: ReplayPlan) async throws -> [OperationCommand] {
    let plan = plan.request.limit == nil ? plan : try await planner.survey(plan).1
    let (request, run, now) = (plan.request, CommandID.new(), clock.wallTime)
    let last = try await planner.lastRecords(of: plan)
    return plan.parts.map { planned in
      var part = ReplayPart(
        topic: planned.partition.topic, from: planned.offsets.lowerBound, to: planned.offsets.upperBound,
        isReapply: request.reapply != nil)
      (part.selection, part.rate, part.parts) = (request.selection, request.rate, plan.parts.count)
      part.last = last[planned.partition]
      var worker = OperationCommand.noWorker
      switch request.target {
      case .worker(let name): worker = name
      case .topic(let name): part.target = name
      }
      let id = CommandID.new()
      return OperationCommand(
        id: id, run: run, item: id, worker: worker, lane: planned.partition.partition, action: .replay(part),
        why: request.reapply ?? "", by: author, at: now)
    }
  }

  /// Writes the start of a run, in one transaction if the log supports them, so a run is visible only together with all
  /// of its parts and its author.
  private func write(_ entry: AuditRecord, _ commands: [ProducerRecord]) async throws {
    let audit = AuditLog(on: log, prefix: prefix)
    guard !log.description.capabilities.contains(.transactions) else {
      try await audit.check()
      return try await ReplayWriter.use(for: entry.run, prefix: prefix, on: log, clock: clock) { writer in
        try await writer.write([entry.producerRecord(prefix: prefix)], then: commands)
      }
    }
    try await audit.append([entry])
    do {
      try await log.append(commands)
    } catch {
      // No worker executes commands that were not written. If they were written after all, the run proceeds normally.
      if case .success(nil) = await Task(operation: { try await self.book()[entry.run] }).result {
        await audit.endEarly(by: error) { result in
          var end = entry
          end.at = clock.wallTime
          end.phase = .ended(part: AuditRecord.everything, result: result, counts: [])
          return end
        }
      }
      throw error
    }
  }

  // MARK: - Going on

  /// Sends the records that a run to a topic has not sent yet. Does nothing for a run to a worker. If another program
  /// is doing the same, this one takes over, so each record is sent once even if either program dies.
  /// - Throws: `KafkaError`, also if another program has taken over.
  package func carryOut(_ id: String) async throws {
    let passedOver = Mutex(PassedOver())
    defer { notePassedOver(passedOver.withLock { $0 }) }
    try await TopicReplay(
      on: log, prefix: prefix, source: source, clock: clock, recordClock: recordClock
    ) { record, problem in
      passedOver.withLock { $0.add(record, because: problem) }
    }.run(id)
  }

  /// Ends a stopped run to a topic if the program that carried it out is gone.
  /// - Parameter patience: The time to wait for that program to react to the stop.
  package func concludeStop(of run: ReplayRun, patience: Duration = .seconds(5)) async throws {
    guard case .topic = run.target else { return }
    let end = try await follow(run.id, patience: patience) { _ in }
    if end?.isOver != true { try await carryOut(run.id) }
  }

  /// Follows a run until it is over or silent for longer than `patience`.
  ///
  /// - Parameters:
  ///   - patience: The maximum time without activity. A paused run does not count as silent.
  ///   - report: Receives every change.
  /// - Returns: The last known state of the run.
  package func follow(
    _ id: String, patience: Duration, report: @escaping @Sendable (ReplayRun) throws -> Void
  ) async throws -> ReplayRun? {
    let follower = RunFollower(id, clock: clock, report: report)
    struct Over: Error {}
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [log, operations] in
        do {
          try await log.scan(operations, from: .earliest, to: .never, upTo: Self.pageSize) { page in
            if try await follower.fold(page) { throw Over() }
          }
        } catch is Over {
          // The run is over.
        }
      }
      group.addTask { try await follower.waitForSilence(of: patience) }
      defer { group.cancelAll() }
      try await group.next()
    }
    notePassedOver(await follower.passedOver)
    return await follower.run
  }

  /// Pauses, resumes or stops a run.
  /// - Returns: The run before the change; nil for a run without any commands, whose audit entry a stop now ends.
  /// - Throws: ``OperationError`` if the run does not exist or is over.
  @discardableResult
  package func control(_ name: String, _ verb: RunVerb) async throws -> ReplayRun? {
    let book = try await book()
    let isGoingOn = book.runs.contains { $0.id.hasPrefix(name) && !$0.isOver }
    if verb == .stop, !isGoingOn, try await endUnbegun(name, book) { return nil }
    let run = try book.run(named: name)
    guard !run.isOver, run.state != .stopping else {
      throw OperationError(
        .usage, "the run is already \(run.state.rawValue)", at: run.id, remedy: "see millrace replay list")
    }
    let now = clock.wallTime
    let control = RunControl(run: run.id, verb, by: author, at: now)
    try await AuditLog(on: log, prefix: prefix).append([
      AuditRecord(run: run.id, verb.action, .started(parts: 0), by: author, source: source, at: now, target: run.id)
    ])
    try await log.append([OperationsRecord.control(control).producerRecord(operations.topic)])
    // The existing parts have ended, and no process has the missing ones.
    if verb == .stop, run.state == .incomplete { _ = try await endUnbegun(run.id, try await self.book()) }
    return run
  }

  /// Ends a run whose command died after it recorded the start but before it had written all commands. No worker knows
  /// the missing commands, so no other process can end the run.
  /// - Returns: Whether there was such a run.
  private func endUnbegun(_ name: String, _ book: RunBook) async throws -> Bool {
    let (audit, now) = (AuditLog(on: log, prefix: prefix), clock.wallTime)
    let stopped = Set(book.runs.filter { $0.isOver && $0.missing > 0 }.map(\.id))
    let lines = try await audit.survey(at: now).lines(isOpenOnly: true).filter { line in
      if case .silent = line.status {} else if !stopped.contains(line.entry.run) { return false }
      return [.replay, .reapply].contains(line.entry.action) && line.entry.run.hasPrefix(name) && !name.isEmpty
    }
    guard let entry = lines.first?.entry, lines.count == 1 else { return false }
    try await audit.append([
      AuditRecord(run: entry.run, .stop, .started(parts: 0), by: author, source: source, at: now, target: entry.run),
      entry.end(.stopped, [], by: author, source: source, at: now),
    ])
    return true
  }

  /// Reads all runs.
  /// - Throws: ``OperationError`` if the topic does not exist; `KafkaError`.
  package func book() async throws -> RunBook {
    guard try await log.partitionCounts(of: [operations.topic], timeout: ReplayPlanner.timeout)[operations.topic] != nil
    else {
      throw OperationError.missing(operations.topic)
    }
    let book = try await table().current()
    notePassedOver(book.passedOver)
    return book
  }

  private func notePassedOver(_ passedOver: PassedOver) { if let sentence = passedOver.sentence { note(sentence) } }

  /// A table of runs that follows the topic, for long-running processes.
  package func table() -> TopicTable<RunBook> {
    TopicTable(operations.topic, in: log, RunBook()) { $0.fold($1) }
  }
}

/// Reports the changes of one run.
private actor RunFollower {
  private(set) var run: ReplayRun?
  var passedOver: PassedOver { book.passedOver }
  private let id: String
  private let clock: MillraceClock
  private let report: @Sendable (ReplayRun) throws -> Void
  private var book = RunBook()
  private var heardAt: MillraceClock.Instant

  init(_ id: String, clock: MillraceClock, report: @escaping @Sendable (ReplayRun) throws -> Void) {
    (self.id, self.clock, self.report) = (id, clock, report)
    heardAt = clock.now
  }

  /// - Returns: Whether the run is over.
  func fold(_ page: [ConsumerRecord]) throws -> Bool {
    for record in page where book.fold(record) == id {
      run = book[id]
      heardAt = clock.now
    }
    if let run { try report(run) }
    return run?.isOver ?? false
  }

  /// The extra time that a slow run needs: at a low rate, the next record of a part may be minutes away.
  private var pause: Duration {
    guard let run, let rate = run.rate else { return .zero }
    return .seconds(Double(2 * max(1, run.parts.count)) / Double(max(1, rate)))
  }

  func waitForSilence(of patience: Duration) async throws {
    while true {
      if run?.state == .paused { heardAt = clock.now }
      let end = heardAt.advanced(by: max(patience, pause))
      guard end > clock.now else { return }
      try await clock.sleep(until: end)
    }
  }
}
