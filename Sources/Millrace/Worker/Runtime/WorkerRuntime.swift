// A worker at work: one reader, one writer, a committer, and the lanes the group gives it.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
package import Kafka
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// Runs one worker over a log until it is told to leave.
package struct WorkerRuntime: Service {
  /// What a runtime is made of.
  package struct Parts: Sendable {
    var name: String
    var log: any RecordLog
    var topics: WorkerTopics
    var prefix: String
    var policy: WorkerPolicy
    var commit: KafkaSettings.Commit
    /// Tells the instances of a worker apart: `transactional.id` is the group's name and this.
    var instance: String
    var staticMember: String?
    var handler: any LaneHandling
    var deadline: @Sendable (NotificationEnvelope, Timestamp) -> Timestamp?
    var budget: APIBudget?
    var pauses: PauseChannel?
    var clock: MillraceClock
    var metrics: WorkerMetrics
    var logger: Logger
  }

  private let parts: Parts
  private let state = WorkerState()

  init(_ parts: Parts) { self.parts = parts }

  /// Whether the worker joined its group and every lane it owns runs; owning none counts.
  package var readiness: WorkerReadiness { state.readiness }

  /// Where each source is read up to, and whether nothing of what was read is still on its way; nil while lanes start.
  package func rest() async -> WorkerRest? {
    guard readiness.isReady, let supervisor = state.supervisor.withLock({ $0 }) else { return nil }
    return await supervisor.rest()
  }

  /// Measures how far lanes are behind, which otherwise happens every few seconds.
  package func measureLag() async { await state.supervisor.withLock { $0 }?.measureLag() }

  /// How long ago the pump of its group turned; nil where none runs.
  var sinceLastTurn: Duration? { state.reader.withLock { $0 }?.sinceLastTurn }

  /// What this process may use of Apple's limits.
  var budget: APIBudget? { parts.budget }
  /// What is used of it.
  var collectors: [MetricCollector] { budget.map { BudgetMetrics.collectors(of: $0) } ?? [] }

  /// Works until shut down gracefully or cancelled.
  /// - Throws: ``MillraceError`` for topics that do not fit; ``KafkaError`` where the process has to start anew.
  package func run() async throws {
    let lanes = try await LaneCount.check(parts.topics, on: parts.log)
    let reader = try parts.log.makeReader(
      group: parts.topics.group, topics: parts.topics.sources, options: readerOptions)
    let writer = try makeWriter()
    let committer = Committer(
      calls: CommitCalls(writer: writer, reader: reader), clock: parts.clock, count: parts.policy.commitCount,
      interval: parts.policy.commitInterval, metrics: parts.metrics, logger: parts.logger)
    let ending = Ending(of: reader)
    let desk = OperationsDesk(
      worker: parts.name, topic: parts.topics.operations, log: parts.log, metrics: parts.metrics,
      logger: parts.logger)
    let farewells = LaneFarewells(
      worker: parts.name, topic: parts.topics.control, log: parts.log, clock: parts.clock, metrics: parts.metrics,
      logger: parts.logger)
    let limits = TimeLimits(parts.policy.handlerTimeout, on: parts.clock)
    let starter = LaneStarter(
      reader: reader,
      parts: LaneParts(
        log: parts.log, desk: desk, policy: parts.policy,
        isTransactional: parts.commit == .transactional, topics: parts.topics,
        planner: OutcomePlanner(
          records: OutcomeRecords(topics: parts.topics, prefix: parts.prefix), schedule: parts.policy.schedule),
        handler: parts.handler, deadline: parts.deadline, committer: committer, limits: limits,
        clock: parts.clock, metrics: parts.metrics, logger: parts.logger), farewells: farewells)
    let supervisor = LaneSupervisor(
      starter: starter, lanes: lanes, budget: parts.budget, state: state, fail: { ending.failed($0) })
    state.supervisor.withLock { $0 = supervisor }
    state.reader.withLock { $0 = reader }
    defer {
      state.supervisor.withLock { $0 = nil }
      state.reader.withLock { $0 = nil }
    }
    try await farewells.whileRunning {
      try await writer.whileRunning { client in
        try await writer.initialize(client)
        await prepare(client)
        await withTaskGroup(of: Void.self) { followers in
          followers.addTask { await ending.onFailure(of: desk.follow) }
          followers.addTask { await ending.onFailure(of: supervisor.watchLag) }
          followers.addTask { await ending.onFailure(of: limits.run) }
          if let channel = parts.pauses { followers.addTask { await ending.onFailure(of: channel.run) } }
          await serve(reader, committer, supervisor, ending)
          followers.cancelAll()
        }
      }
    }
    if let error = ending.cause { throw error }
  }

  /// Without it the first record parked would wait a second for its topic, and be as late.
  private func prepare(_ client: any LogWriter) async {
    let topics = parts.topics
    do {
      try await client.prepare(
        topics.retries + [topics.replay, topics.deadLetters, topics.ledger, topics.events], timeout: .seconds(10))
    } catch {
      parts.logger.warning("topics to write to were not looked up ahead", metadata: ["error": "\(error)"])
    }
  }

  /// Lets lanes come and go until the group was left. Whatever fails beside them makes the worker leave.
  private func serve(
    _ reader: any LogReader, _ committer: Committer, _ supervisor: LaneSupervisor, _ ending: Ending
  ) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await ending.onFailure(of: committer.run) }
      group.addTask {
        // The pump of the group ends when the group is left, after every lane was handed over.
        await withGracefulShutdownHandler {
          await ending.onFailure { try await reader.run() }
        } onGracefulShutdown: {
          reader.shutDown()
        }
      }
      for await event in reader.events {
        switch event {
        case .assigned(let partitions): await supervisor.assigned(partitions)
        case .revoked(let revocation): await supervisor.revoked(revocation)
        }
      }
      await supervisor.close()
      committer.shutDown()
    }
  }

  private var readerOptions: LogReaderOptions { LogReaderOptions(instance: parts.staticMember) }

  private func makeWriter() throws -> WorkerWriter {
    switch parts.commit {
    case .transactional:
      .transactional(
        try parts.log.makeTransactionalWriter(
          id: "\(parts.topics.group).\(parts.instance)", timeout: WorkerWriter.transactionTimeout))
    case .atLeastOnce: .plain(try parts.log.makeWriter())
    }
  }

  /// Makes the worker leave its group when a part of it fails, and keeps the first error: it ends the process.
  private final class Ending: Sendable {
    private let reader: any LogReader
    private let first = Mutex<(any Error)?>(nil)

    init(of reader: any LogReader) { self.reader = reader }

    var cause: (any Error)? { first.withLock { $0 } }

    func failed(_ error: any Error) {
      first.withLock { $0 = $0 ?? error }
      reader.shutDown()
    }

    func onFailure(of part: @Sendable () async throws -> Void) async {
      do {
        try await part()
      } catch is CancellationError {
        // The worker leaves.
      } catch {
        failed(error)
      }
    }
  }
}

/// Whether a worker came to rest.
package struct WorkerRest: Sendable, Hashable {
  /// For each partition read, the offset behind the last record that was taken.
  package var taken: [TopicPartition: Int64] = [:]
  /// Whether nothing is with a handler or on its way to Kafka. What waits for its time is at rest.
  package var isQuiet = true
  /// Records in memory: with handlers, on their way to Kafka, or read ahead and waiting for their time.
  package var held = 0
  /// Whether nothing is due or on its way to Kafka, whatever handlers do.
  package var isStill = true
  /// Handlers that work. Those whose calls wait for their turn are not counted.
  package var handlers = 0
}

/// The writer of a worker, by how it commits.
enum WorkerWriter: Sendable {
  case transactional(any TransactionalLogWriter)
  case plain(any LogWriter)

  /// `transaction.timeout.ms`: how long a transaction of a process that vanished holds readers up.
  static let transactionTimeout = Duration.seconds(10)

  private var writer: any LogWriter {
    switch self {
    case .transactional(let writer): writer
    case .plain(let writer): writer
    }
  }

  /// Fences older instances.
  func initialize(_ client: any LogWriter) async throws {
    guard case .transactional(let writer) = self else { return }
    while true {
      do {
        return try await writer.initialize(timeout: .seconds(60))
      } catch {
        guard error.transactionRemedy == .retry, !Task.isCancelled else { throw error }
      }
    }
  }

  /// Serves the client while `body` runs.
  func whileRunning(_ body: @escaping @Sendable (any LogWriter) async throws -> Void) async throws {
    let writer = writer
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
