// Runs a worker as a member of its group. If the worker loses its transactional producer or is fenced by the group, it
// rejoins the group.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
package import KafkaClient
internal import Logging
internal import ServiceLifecycle
internal import Synchronization
internal import MillraceCore
internal import MillraceRecords

/// Runs one worker until it is told to shut down.
package struct WorkerRuntime: Service {
  /// The dependencies and settings of a runtime.
  package struct Parts: Sendable {
    var name: String
    var log: any RecordLog
    var topics: WorkerTopics
    var prefix: String
    var policy: WorkerPolicy
    var commit: KafkaSettings.Commit
    /// The name of this instance of the worker. The `transactional.id` is the group's name followed by this one.
    var instance: String
    /// The static member name in the group, or nil for a dynamic member.
    var staticMember: String?
    /// Whether a static member keeps its lanes or leaves the group on a graceful shutdown.
    var onStop = WorkerEntry.OnStop.keep
    var handler: any LaneHandling
    var deadline: @Sendable (NotificationEnvelope, Timestamp) -> Timestamp?
    var erasure = ErasureRules()
    var budget: APIBudget?
    var pauses: PauseChannel?
    /// Notes what a dry run shows; nil outside of dry runs.
    var dryRun: DryRunJournal?
    var clock: MillraceClock
    var metrics: WorkerMetrics
    var logger: Logger

    var readRetry: TopicReadRetry { TopicReadRetry(topics: topics, log: log, clock: clock, logger: logger) }

    var transactionalID: String { "\(topics.group).\(instance)" }
  }

  private let parts: Parts
  private let state = WorkerState()
  /// Counts retries across rejoins.
  private let failures: FailureLog
  private let startedAt: Timestamp

  init(_ parts: Parts) {
    self.parts = parts
    startedAt = parts.clock.realTime
    failures = FailureLog(worker: parts.name, parts.logger, clock: parts.clock)
  }

  /// Whether the worker has joined its group and runs every lane that it owns. Owning none counts as ready.
  package var readiness: WorkerReadiness { state.readiness }

  /// Returns how far each source is read and whether the worker is idle, or nil while lanes start.
  package func rest() async -> WorkerRest? {
    guard readiness.isReady, let supervisor = state.supervisor.withLock({ $0 }) else { return nil }
    return await supervisor.rest()
  }

  /// Measures the lag of the lanes now. Otherwise it is measured every few seconds.
  package func measureLag() async { await state.supervisor.withLock { $0 }?.measureLag() }

  /// Compares the topics with the records that the lanes have read now. Otherwise they are compared every minute.
  package func checkTopics() async { await state.supervisor.withLock { $0 }?.checkTopics() }

  /// Returns the number of lanes that have left and whose ledger is still in memory.
  func keptLedgers() async -> Int? { await state.supervisor.withLock { $0 }?.keptLedgers }

  /// The time since the group's poll loop last ran, or nil if none exists.
  var sinceLastTurn: Duration? { state.reader.withLock { $0 }?.sinceLastTurn }

  /// Returns the worker's report about itself.
  func report(_ host: WorkerHost) async -> ProcessReport {
    var report = ProcessReport(parts.name, instance: parts.instance, version: MillraceVersion.current)
    report.started = startedAt
    report.lanes = await state.supervisor.withLock { $0 }?.running ?? []
    report.failingTimers = state.failingTimers
    report.circuit = host.circuit(of: parts.name)
    report.problem = readiness.rejoinReason.map { "rejoining its group (\($0))" }
    report.budgets = (budget?.use() ?? []).map { use in
      ProcessReport.Budget(
        bundleId: use.key.bundleId, environment: use.key.environment.rawValue, endpoint: use.key.endpoint.rawValue,
        perSecond: use.perSecond, waiting: use.waiting, isRefused: use.isRefused)
    }
    return report
  }

  var transactionalID: String { parts.transactionalID }
  /// This process's share of Apple's limits.
  var budget: APIBudget? { parts.budget }
  /// The metrics of the budget.
  var collectors: [MetricCollector] { budget.map { BudgetMetrics.collectors(of: $0) } ?? [] }

  /// Runs until shut down gracefully or cancelled. A worker that loses its transactional producer or is fenced by its
  /// group rejoins the group.
  /// - Throws: ``MillraceError`` if a topic does not fit or another living process has this one's name; ``KafkaError`` if the
  ///   process has to restart.
  package func run() async throws {
    let lanes = try await LaneCount.check(parts.topics, on: parts.log)
    let notices = LivenessNotices(
      worker: parts.name, topic: parts.topics.control, log: parts.log, clock: parts.clock, metrics: parts.metrics,
      logger: parts.logger)
    let limits = TimeLimits(parts.policy.handlerTimeout, on: parts.clock)
    let ending = WorkerEnding { [state] loss in state.rejoining(loss.reason) }
    try await notices.whileRunning {
      await withTaskGroup(of: Void.self) { followers in
        followers.addTask { await ending.onFailure(of: limits.run) }
        if let channel = parts.pauses { followers.addTask { await ending.onFailure(of: channel.run) } }
        await ending.onFailure { try await work(lanes, notices, limits, ending) }
        followers.cancelAll()
      }
    }
    failures.flush(all: true)
    if let error = ending.cause { throw await explained(error) }
  }

  /// Returns the error that names the missing topics if a client has failed because of one.
  private func explained(_ error: any Error) async -> any Error {
    guard let failure = error as? KafkaError, failure.isUnknownTopic else { return error }
    do {
      _ = try await LaneCount.check(parts.topics, on: parts.log)
      return error
    } catch {
      return error is MillraceError ? error : failure
    }
  }

  /// Joins the group, and joins it again after each loss.
  private func work(
    _ lanes: Int, _ notices: LivenessNotices, _ limits: TimeLimits, _ ending: WorkerEnding
  ) async throws {
    var limit = RejoinLimit()
    var former: WorkerEnding.Former?
    while true {
      let membership = WorkerMembership(
        parts, lanes: lanes, notices: notices, limits: limits, failures: failures, state: state, ending: ending,
        after: former?.loss)
      if let last = former {
        guard try await membership.mayFollow(last) else { return }
      }
      former = nil
      let hasCommitted = try await membership.run()
      former = ending.takeFormer()
      guard let loss = former?.loss, ending.cause == nil, !Task.isCancelled, !Task.isShuttingDownGracefully else {
        return
      }
      let pause = try pause(after: loss, hasCommitted: hasCommitted, &limit)
      let due = parts.clock.now.advanced(by: pause)
      try await cancelWhenGracefulShutdown { [clock = parts.clock] in try await clock.sleep(until: due) }
    }
  }

  /// Logs a loss, and returns the time to wait before the worker rejoins.
  /// - Throws: The error of the loss if the worker has lost its producer too often.
  private func pause(
    after loss: ProducerLoss, hasCommitted: Bool, _ limit: inout RejoinLimit
  ) throws(KafkaError) -> Duration {
    let metadata: Logger.Metadata = ["reason": "\(loss.reason.rawValue)", "error": "\(loss.error)"]
    if loss.reason == .fencedInstance {
      parts.logger.warning(
        """
        the group fenced this process; outcomes in memory are dropped, and the worker rejoins its group unless another \
        process has its name
        """, metadata: metadata)
      return limit.fenced(hasCommitted: hasCommitted)
    }
    guard let pause = limit.lost(now: parts.clock.now, hasCommitted: hasCommitted) else {
      parts.logger.error("the transactional producer was lost too often; the process ends", metadata: metadata)
      throw loss.error
    }
    parts.logger.warning(
      """
      the transactional producer was lost; outcomes in memory are dropped, and the worker rejoins its group and restarts \
      its lanes from the committed offsets
      """, metadata: metadata)
    return pause
  }
}

/// A snapshot of a worker's progress and activity.
package struct WorkerRest: Sendable, Hashable {
  /// The offset after the last record read, by partition.
  package var taken: [TopicPartition: Int64] = [:]
  /// Whether no handler is running and nothing is being committed. Work that is not due yet does not matter.
  package var isQuiet = true
  /// The number of records in memory, and of writes that are not committed.
  package var held = 0
  /// Whether nothing is due or being committed. Handlers may still run.
  package var isStill = true
  /// The number of running handlers, without those that wait for a rate-limit slot.
  package var handlers = 0
}

/// A worker's producer, by commit mode.
enum WorkerWriter: Sendable {
  case transactional(ReplaceableProducer)
  case plain(any LogWriter)

  /// The `transaction.timeout.ms`. If a process vanishes, its open transaction blocks readers for this long, and then
  /// until a broker next looks for expired transactions (every 10 s,
  /// `transaction.abort.timed.out.transaction.cleanup.interval.ms`). A process that returns under the same name ends
  /// the transaction at once.
  static let transactionTimeout = Duration.seconds(5)

  /// The client to run while the writer is used.
  var client: any LogWriter {
    switch self {
    case .transactional(let writer): writer
    case .plain(let writer): writer
    }
  }

  /// The time limit of one call. The initialization continues in the background; a cancelled worker stops calling.
  static let initializationTimeout = Duration.seconds(5)

  /// Fences earlier producers with the same transactional id.
  func initialize(_ client: any LogWriter) async throws {
    guard case .transactional(let writer) = self else { return }
    while true {
      do {
        return try await writer.initialize(timeout: Self.initializationTimeout)
      } catch {
        guard error.transactionRemedy == .retry, !Task.isCancelled else { throw error }
      }
    }
  }

  /// Runs the client while `body` runs.
  func whileRunning(_ body: @escaping @Sendable (any LogWriter) async throws -> Void) async throws {
    let writer = client
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await writer.run() }
      group.addTask {
        defer { writer.shutDown() }
        try await body(writer)
      }
      while let end = await group.nextResult() {
        guard case .failure(let error) = end else { continue }
        group.cancelAll()
        throw error
      }
    }
  }
}
