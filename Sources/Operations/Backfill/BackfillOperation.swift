// Runs a backfill: slices in parallel, with a checkpoint after Kafka has acknowledged each page. After a crash, the
// next process fetches at most one page of each slice again.

internal import AppStore
package import AppStoreServerAPI
package import MillraceTime
internal import KafkaClient
package import MillraceRecords
internal import MillraceWorker

/// Fills gaps from Apple's notification history.
package struct BackfillOperation: Sendable {
  /// The dependencies of a backfill.
  package struct Parts: Sendable {
    /// The runs, and the log that receives notifications.
    package var log: BackfillLog
    /// The client of each app, by bundle ID.
    package var clients: [String: AppStoreServerClient]
    /// The ingress's verification and routing.
    package var admission: NotificationAdmission
    /// The deployment's topics.
    package var catalog: TopicCatalog
    /// The customers whose notifications are not published; nil: there are none.
    package var erased: ErasedCustomers?
    /// Announces a 429 to other processes; nil: no announcement.
    var pauses: PauseChannel?
    /// The notifications' clock.
    package var clock: MillraceClock
    /// The operators' clock, which times heartbeats.
    var pulse = MillraceClock.system
    /// The number of slices fetched in parallel.
    package var parallel = 32
    /// How long the run keeps retrying while Apple fails.
    var patience = Duration.seconds(30 * 60)

    /// Creates the dependencies.
    package init(
      log: BackfillLog, clients: [String: AppStoreServerClient], admission: NotificationAdmission,
      catalog: TopicCatalog, clock: MillraceClock
    ) {
      self.log = log
      self.clients = clients
      self.admission = admission
      self.catalog = catalog
      self.clock = clock
    }
  }

  /// The part of an app's budget that a run takes; `--follow` takes the rest. No other process reads histories.
  package static let budgetPart = 0.97

  /// The maximum number of restarts of one slice in one process.
  static let maximumRestarts = 5

  private let parts: Parts
  private let report: @Sendable (BackfillReport) throws -> Void

  /// Creates an operation.
  /// - Parameter report: Receives reports, from several tasks concurrently.
  package init(_ parts: Parts, report: @escaping @Sendable (BackfillReport) throws -> Void) {
    self.parts = parts
    self.report = report
  }

  /// Creates a run and stores it before the first request.
  ///
  /// - Parameter sliceLength: The length of a slice; nil: chosen from the length of the run's time range.
  /// - Throws: ``OperationError`` if a topic is missing, or if a running backfill fetches from one of these histories.
  package func start(
    _ selection: BackfillSelection, sliceLength: Duration? = nil, by: String
  ) async throws -> BackfillRun {
    let table = try await parts.log.table()
    let now = parts.clock.wallTime
    let rival = table.runs.first { run in
      run.isAlive(at: parts.pulse.wallTime) && run.selection.targets.contains { selection.targets.contains($0) }
    }
    if let rival {
      throw OperationError(
        .failed, "run \(rival.id) already fetches this history and uses its budget", at: rival.by,
        remedy: "wait for it to end, or stop it with millrace backfill stop \(rival.id)")
    }
    var run = BackfillRun(
      id: Self.newID(at: now), selection,
      sliceLength: sliceLength ?? BackfillSlice.length(from: selection.from, to: selection.to), by: by,
      owner: Self.newOwner(), at: now)
    run.updatedAt = parts.pulse.wallTime
    try await AuditLog(on: parts.log.log, prefix: parts.log.prefix).append([
      run.audit(.started(parts: 1), at: parts.clock.wallTime)
    ])
    try await parts.log.log.append([BackfillRecord.run(run).record(prefix: parts.log.prefix)])
    return run
  }

  /// Takes over a run that failed or whose process died.
  /// - Throws: ``OperationError`` if the run does not exist, is over, or is being worked on.
  package func goOn(with id: String, by: String) async throws -> BackfillRun {
    let table = try await parts.log.table()
    var run = try parts.log.run(id, in: table)
    guard !run.state.isOver else {
      throw OperationError(
        .failed, "the run is already \(run.state.rawValue)", at: run.id, remedy: "start a new run for the rest")
    }
    guard !run.isAlive(at: parts.pulse.wallTime) else {
      throw OperationError(
        .failed, "another process works on the run, last active at \(run.updatedAt.rfc3339)", at: run.id,
        remedy: "if that process was killed, wait 15 seconds")
    }
    // Clear any earlier request to the previous process.
    try await parts.log.control(
      .resume, of: run, by: by, at: parts.clock.wallTime, pulse: parts.pulse.wallTime)
    run.owner = Self.newOwner()
    run.claim += 1
    run.detail = nil
    return run
  }

  /// Works on a run until everything is in Kafka.
  ///
  /// - Returns: The run as it ended; its state is `stopped` if an operator ended it.
  /// - Throws: `APIError` that retrying does not fix, `KafkaError`, `CancellationError`, or the error of `report`. The
  ///   stored run can then be continued.
  package func carryOut(_ run: BackfillRun) async throws -> BackfillRun {
    let quarantine = try await parts.requireTopics()
    let progress = BackfillProgress(run, try await parts.log.current())
    do {
      return try await work(on: run, progress, quarantine: quarantine)
    } catch {
      // A signal closed the writer too. Another writer stores the run, so it can be continued at once.
      let words = Task.isCancelled ? "interrupted" : FailureReport(error).lines.first
      let failed = await progress.end(.failed, detail: words, at: parts.pulse.wallTime)
      let log = parts.log
      // If this write fails too, readers see the run as silent.
      _ = await Task {
        // Another process may own the run by now.
        guard try await log.current()[failed.id]?.owner == failed.owner else { return }
        try await log.log.append([BackfillRecord.run(failed).record(prefix: log.prefix)])
      }.result
      throw error
    }
  }

  private func work(
    on run: BackfillRun, _ progress: BackfillProgress, quarantine: String
  ) async throws -> BackfillRun {
    let channel = parts.pauses
    return try await parts.log.log.withWriter { writer in
      let publisher = HistoryPublisher(
        admission: parts.admission, router: parts.catalog.router, erased: parts.erased, quarantine: quarantine,
        writer: writer, clock: parts.clock, run: run.id)
      try await keep(.run(progress.run), writer)
      do {
        try await withThrowingTaskGroup(of: Bool.self) { group in
          if let channel {
            group.addTask {
              try await channel.run()
              return false
            }
          }
          group.addTask {
            try await watch(progress, writer)
            return false
          }
          let slots = max(1, min(parts.parallel, run.slices.count))
          for _ in 0..<slots {
            group.addTask {
              while let (slice, mark) = await progress.next() {
                try await fetch(slice, from: mark, progress, publisher)
              }
              return true
            }
          }
          defer { group.cancelAll() }
          var atWork = slots
          while atWork > 0, let isSlot = try await group.next() { atWork -= isSlot ? 1 : 0 }
        }
        return try await end(progress, .done, writer)
      } catch is Stopped {
        return try await end(progress, .stopped, writer)
      }
    }
  }

  /// Ends the tasks of a run that an operator stopped.
  private struct Stopped: Error {}

  // MARK: - A slice

  private func fetch(
    _ slice: BackfillSlice, from start: BackfillMark, _ progress: BackfillProgress, _ publisher: HistoryPublisher
  ) async throws {
    guard let client = parts.clients[slice.target.bundleId] else {
      throw OperationError(
        .failed, "the app has no API credentials", at: slice.target.bundleId, remedy: "set apps[].api of this app")
    }
    var reader = HistoryReader(client: client, clock: parts.clock, patience: parts.patience)
    reader.onWait = { error, until in
      do {
        try report(.waiting(slice.target, error.what, until: until))
      } catch {
        // A closed output is noticed at the next progress report.
      }
    }
    let selection = await progress.run.selection
    var mark = start
    var (from, restarts) = (slice.from, 0)
    while !mark.isDone {
      try await waitForLeave(progress)
      let answer = try await reader.page(
        of: selection.request(from: from, to: slice.to), after: mark.token, in: slice.target.environment)
      switch answer {
      case .page(let page):
        let outcome = try await publisher.publish(page.items)
        mark.counts.pages += 1
        mark.counts.published += outcome.publishedCount
        mark.counts.quarantined += outcome.quarantinedCount
        mark.token = page.hasMore ? page.paginationToken : nil
        mark.isDone = !page.hasMore
      case .beginAnew:
        restarts += 1
        guard restarts <= Self.maximumRestarts else {
          throw OperationError(
            .failed, "Apple rejected its own page tokens \(restarts) times", at: slice.words,
            remedy: "continue later with millrace backfill --run \(await progress.run.id)")
        }
        mark.token = nil
        mark.counts.restarts += 1
        try report(.restarted(slice))
      case .nothingThere: mark.isDone = true
      case .outOfReach:
        try report(.outOfReach(slice))
        let earliest = parts.clock.wallTime - NotificationHistoryRequest.window(of: slice.target.environment)
        from = max(from, earliest + Self.margin)
        mark.token = nil
        mark.isDone = from >= slice.to
      }
      let run = await progress.run.id
      try await keep(.mark(run: run, slice: slice.number, mark), publisher.writer)
      await progress.advance(slice, to: mark)
    }
  }

  /// The distance to the start of Apple's window that a request keeps, because the request takes time to arrive.
  private static let margin = Duration.seconds(60)

  private func waitForLeave(_ progress: BackfillProgress) async throws {
    while let control = await progress.control, control != .resume {
      if control == .stop { throw Stopped() }
      try await parts.pulse.sleep(until: parts.pulse.now.advanced(by: .seconds(1)))
    }
  }

  // MARK: - The run

  private func watch(_ progress: BackfillProgress, _ writer: any LogWriter) async throws {
    while true {
      let run = try await progress.hear(try await parts.log.current(), at: parts.pulse.wallTime)
      try await keep(.run(run), writer)
      try report(.progress(run))
      try await parts.pulse.sleep(until: parts.pulse.now.advanced(by: BackfillRun.heartbeat))
    }
  }

  /// Stores how a run ended.
  private func end(
    _ progress: BackfillProgress, _ state: BackfillRun.State, _ writer: any LogWriter
  ) async throws -> BackfillRun {
    let run = await progress.end(state, at: parts.pulse.wallTime)
    let (audit, rest) = parts.log.ending(of: run, at: parts.clock.wallTime)
    _ = try await writer.send(audit)
    _ = try await writer.send(contentsOf: rest)
    try report(.ended(run))
    return run
  }

  private func keep(_ record: BackfillRecord, _ writer: any LogWriter) async throws {
    _ = try await writer.send(record.record(prefix: parts.log.prefix))
  }

  /// An ID that sorts by time and is short enough to type.
  private static func newID(at time: Timestamp) -> String {
    let day = time.rfc3339.prefix(16).filter { $0.isNumber }
    return "\(day)-\(newOwner().prefix(4))"
  }

  private static func newOwner() -> String {
    var generator = SystemRandomNumberGenerator()
    return String(UInt64.random(in: 1 << 60...UInt64.max, using: &generator), radix: 36)
  }
}
