// The processes of a stage: tests start, crash and stop them.

package import CoreMetrics
package import Logging
package import MillraceTesting
internal import MillraceTime
package import MillraceWorker
internal import Synchronization

/// A process of a worker.
package struct StagedProcess: Sendable {
  /// The log as seen by this process.
  package let log: InMemoryLog
  /// The worker in the process.
  package let runtime: WorkerRuntime
  let task: Task<(any Error)?, Never>

  /// Kills the process. Its group notices that at the end of the session.
  package func crash() {
    log.crash()
    task.cancel()
  }

  /// Whether the process has read all records of its lanes, and no record is with a handler or waits for its commit.
  package var isAtRest: Bool {
    get async {
      guard let rest = await runtime.rest() else { return false }
      return rest.isQuiet && rest.hasRead(log)
    }
  }
}

/// The processes that a stage has started, and the receiver of their errors.
struct WorkerStageState: Sendable {
  var processes: [StagedProcess] = []
  var failures: AsyncStream<any Error>.Continuation?
  /// The sequence number of the first notification that the test has not taken.
  var nextPending: Int64 = 0
}

extension WorkerStage {
  /// The processes since the last call of `running`, including crashed ones.
  package var processes: [StagedProcess] { state.withLock { $0.processes } }
  /// The processes that have not crashed.
  package var living: [StagedProcess] { processes.filter { !$0.log.isCrashed } }

  /// Starts another process. If the configuration has a worker with its name, it runs as that worker.
  package func start(
    _ name: String, as type: any NotificationWorker.Type = Worker.self, logger: Logger = .quiet,
    metrics: any MetricsFactory = NOOPMetricsHandler.instance
  ) async throws {
    let identity = configuration.workers[name].map { _ in
      WorkerIdentity(name: name, families: type.families, policy: policy)
    }
    let log = log.process(name)
    let runtime = try await WorkerProcess.runtime(
      type, as: identity, configuration, policy, log: log, exchange: network, metrics: metrics,
      verifier: store.verifier, instance: name, settings: settings, clock: clock, logger: logger)
    let failures = state.withLock { $0.failures }
    let task = Task { () -> (any Error)? in
      do {
        try await runtime.run()
        return nil
      } catch {
        if !log.isCrashed { failures?.yield(error) }
        return error
      }
    }
    state.withLock { $0.processes.append(StagedProcess(log: log, runtime: runtime, task: task)) }
  }

  /// Runs processes with the names `0`, `1` and so on concurrently with `body`.
  package func running(
    _ count: Int = 1, as type: any NotificationWorker.Type = Worker.self, logger: Logger = .quiet,
    metrics: any MetricsFactory = NOOPMetricsHandler.instance, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await running((0..<count).map(String.init), as: type, logger: logger, metrics: metrics, body)
  }

  /// Runs processes concurrently with `body`, which begins when they have their lanes, and stops them afterwards.
  /// - Throws: The error of `body`, or the error that ended a process.
  package func running(
    _ names: [String], as type: any NotificationWorker.Type = Worker.self, logger: Logger = .quiet,
    metrics: any MetricsFactory = NOOPMetricsHandler.instance, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    let (failures, continuation) = AsyncStream.makeStream(of: (any Error).self)
    state.withLock { ($0.processes, $0.failures) = ([], continuation) }
    let result: Result<Void, any Error>
    do {
      for name in names { try await start(name, as: type, logger: logger, metrics: metrics) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          try await self.ready()
          try await body()
        }
        group.addTask { for await error in failures { throw error } }
        defer { group.cancelAll() }
        try await group.next()
      }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    for process in processes { process.task.cancel() }
    for process in processes {
      let error = await process.task.value
      if case .success = result, let error, !process.log.isCrashed { throw error }
    }
    try result.get()
  }

  /// Advances time until every process has its lanes, because group rebalances need time to pass.
  package func ready() async throws {
    try await until(meanwhile: { time.advance(by: .milliseconds(100)) }) {
      self.living.allSatisfy { $0.runtime.readiness.isReady }
    }
  }
}

extension Logger {
  /// Discards everything.
  package static var quiet: Logger { Logger(label: "quiet") { _ in SwiftLogNoOpLogHandler() } }
}
