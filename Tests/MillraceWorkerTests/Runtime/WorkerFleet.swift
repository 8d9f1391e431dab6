// Runs several processes of one worker on one in-memory log, with the real runtime, a handler of the test, and manual
// time.

import AppStore
import MillraceTime
import Foundation
import KafkaClient
import Logging
import MillraceTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

/// The log, the topics and the policy that the processes of a worker share.
struct WorkerFleet {
  /// Silent, unless the environment variable `FLEET_LOG` is set.
  static var logger: Logger {
    Logger(label: "mill") { label in
      guard ProcessInfo.processInfo.environment["FLEET_LOG"] != nil else { return SwiftLogNoOpLogHandler() }
      return StreamLogHandler.standardError(label: label)
    }
  }

  static let live = "appstore.notifications.subscriptions"

  let time: ManualClock
  /// The clock of the processes. The log uses ``time``.
  let clock: MillraceClock
  /// The metrics of all processes.
  let metrics = PrometheusRegistry(describing: WorkerMetrics.helpTexts)
  let log: InMemoryLog
  let topics: WorkerTopics
  let policy: WorkerPolicy
  let commit: KafkaSettings.Commit
  var erasure = ErasureRules()
  /// The deadline of a record. A lane asks for it when it receives the record.
  var deadline: @Sendable (NotificationEnvelope, Timestamp) -> Timestamp? = { _, _ in nil }

  /// - Parameter replayLanes: The partition count of the `replay` topic, if it differs from `lanes`.
  init(
    lanes: Int, replayLanes: Int? = nil, inputs: [String] = [Self.live], commit: KafkaSettings.Commit = .transactional,
    tables: [String] = [],
    time: ManualClock = ManualClock(), clock: MillraceClock? = nil, _ change: (inout WorkerPolicy) -> Void = { _ in }
  ) throws {
    var policy = WorkerPolicy()
    policy.retryDelays = [.seconds(2), .seconds(20)]
    policy.commitInterval = .milliseconds(20)
    change(&policy)
    self.policy = policy
    self.commit = commit
    self.time = time
    self.clock = clock ?? time.clock
    log = InMemoryLog(clock: time.clock)
    topics = WorkerTopics(
      worker: "mill", inputs: inputs, outputTopics: tables, delays: policy.retryDelays, prefix: "")
    for topic in topics.laneTopics {
      try log.createTopic(topic, partitions: topic == topics.replay ? replayLanes ?? lanes : lanes)
    }
    for topic in topics.others { try log.createTopic(topic, partitions: 1) }
    for topic in topics.outputTopics { try log.createTopic(topic, partitions: 3) }
  }

  /// Starts a process. If `isKept`, it is restarted after an error, as a supervisor would do.
  /// - Parameter watch: Observes every call of the process to the log, before the call is made.
  func start(
    _ name: String, isKept: Bool = true, staticMember: String? = nil, onStop: WorkerEntry.OnStop = .keep,
    transactionalName: String? = nil, watch: LogWatch? = nil, _ handler: any LaneHandling
  ) -> FleetProcess {
    FleetProcess(log: log.process(name), isKept: isKept) { log in
      runtime(
        on: watch.map { WatchedLog(log: log, watch: $0) } ?? log, staticMember: staticMember, onStop: onStop,
        transactionalName: transactionalName, handler)
    }
  }

  /// Creates a runtime that the test runs itself.
  func runtime(
    on log: any RecordLog, staticMember: String? = nil, onStop: WorkerEntry.OnStop = .keep,
    transactionalName: String? = nil, _ handler: any LaneHandling
  ) -> WorkerRuntime {
    var generator = SystemRandomNumberGenerator()
    return WorkerRuntime(
      WorkerRuntime.Parts(
        name: "mill", log: log, topics: topics, prefix: "", policy: policy, commit: commit,
        instance: staticMember ?? transactionalName ?? String(generator.next(), radix: 36),
        staticMember: staticMember, onStop: onStop,
        handler: handler,
        deadline: deadline, erasure: erasure, budget: nil, pauses: nil, clock: clock,
        metrics: WorkerMetrics(worker: "mill", factory: metrics), logger: WorkerFleet.logger))
  }

  /// Appends a notification with `id` as its value.
  func put(_ id: String, key: String, app: String = "com.example.a", padding: Int = 0) throws {
    try log.append(record(id, key: key, app: app, padding: padding))
  }

  func record(_ id: String, key: String, app: String = "com.example.a", padding: Int = 0) -> ProducerRecord {
    ProducerRecord(
      topic: Self.live, key: Array(key.utf8), value: Array(id.utf8) + [UInt8](repeating: 32, count: padding),
      headers: [
        RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", id),
        RecordHeader("ce_type", "com.apple.appstore.notification.v2.DID_RENEW"),
        RecordHeader("ce_source", "appstore/Production/\(app)"), RecordHeader("ce_subject", key),
      ])
  }

  /// Returns the number of rejoins by reason.
  func rejoins() -> [String: Int] {
    let lines = metrics.render().split(separator: "\n").filter { $0.hasPrefix("millrace_worker_rejoins_total{") }
    return Dictionary(
      ProducerLoss.Reason.allCases.map { reason in
        let line = lines.first { $0.contains(#"reason="\#(reason.rawValue)""#) }
        return (reason.rawValue, line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0)
      }
    ) { $1 }.filter { $0.value > 0 }
  }

  /// Returns the number of replaced clients of transactional producers by cause.
  func replacements() -> [String: Int] {
    let name = "millrace_worker_producer_replacements_total{"
    let lines = metrics.render().split(separator: "\n").filter { $0.hasPrefix(name) }
    return Dictionary(
      ReplaceableProducer.Cause.allCases.map { cause in
        let line = lines.first { $0.contains(#"cause="\#(cause.rawValue)""#) }
        return (cause.rawValue, line.flatMap { Int($0.split(separator: " ").last ?? "") } ?? 0)
      }
    ) { $1 }.filter { $0.value > 0 }
  }

  /// Advances time until a condition holds.
  /// - Returns: The time that passed, nil if the condition did not hold within the limit.
  @discardableResult
  func until(
    within limit: Duration = .seconds(600), step: Duration = .milliseconds(20), _ holds: () async -> Bool
  ) async -> Duration? {
    let start = time.clock.now
    while await !holds() {
      guard start.duration(to: time.clock.now) < limit else { return nil }
      time.advance(by: step)
      for _ in 0..<40 { await Task.yield() }
    }
    return start.duration(to: time.clock.now)
  }

  /// Advances time in steps, and waits for open transactions after each. A long step during a transaction would exceed
  /// its timeout, as if the process had been paused.
  func pass(_ duration: Duration) async {
    let end = time.clock.now.advanced(by: duration)
    while time.clock.now < end {
      time.advance(by: min(.seconds(1), time.clock.now.duration(to: end)))
      repeat { for _ in 0..<10 { await Task.yield() } } while log.hasOpenTransactions && !Task.isCancelled
    }
  }

  /// Pauses a process between two transactions. A paused process holds its transaction open, and ``pass(_:)`` would wait for
  /// its end for ever.
  func pause(_ process: FleetProcess) async {
    while true {
      process.log.pause()
      guard log.hasOpenTransactions else { return }
      process.log.resume()
      await Task.yield()
    }
  }

  /// Advances time until a process has ended.
  /// - Returns: The time that passed and the error, nil if the process did not end within the limit.
  func end(of process: FleetProcess, within limit: Duration = .seconds(600)) async -> (
    time: Duration, error: (any Error)?
  )? {
    guard let time = await until(within: limit, { process.isOver }) else { return nil }
    return (time, await process.end())
  }

  /// Returns the `ce_id` of every committed event.
  func eventIDs() -> [String] { log.records(in: topics.events).map { Self.header("ce_id", of: $0) } }

  /// Returns the notification of every committed event, in order.
  func answered() -> [String] { log.records(in: topics.events).map { Self.header("ce_notificationid", of: $0) } }

  /// Returns the reasons of the dead letters, by notification.
  func dead() -> [String: String] {
    let letters = log.records(in: topics.deadLetters)
    return Dictionary(letters.map { (Self.header("ce_id", of: $0), Self.header("millrace-reason", of: $0)) }) { $1 }
  }

  static func header(_ name: String, of record: ConsumerRecord) -> String {
    record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// Returns the commands for the worker, with their results.
  func operations() -> OperationsLog {
    var operations = OperationsLog(worker: "mill")
    for record in log.records(in: topics.operations) {
      if let operation = OperationsRecord(record) { _ = operations.fold(operation) }
    }
    return operations
  }

  /// Returns the ledger that a lane would restore now.
  func ledger() throws -> Ledger {
    var ledger = Ledger()
    for record in log.records(in: topics.ledger) {
      try ledger.restore(record)
    }
    return ledger
  }

  /// Whether the group has committed all records of all sources.
  func isRead() -> Bool {
    let committed = Dictionary(
      uniqueKeysWithValues: log.committedOffsets(of: topics.group).map { ($0.partition, $0.offset) })
    return topics.sources.allSatisfy { topic in
      Dictionary(grouping: log.records(in: topic), by: \.partition).allSatisfy { partition, records in
        committed[TopicPartition(topic: topic, partition: partition), default: 0] > (records.last?.offset ?? -1)
      }
    }
  }
}

/// A process of the worker.
struct FleetProcess {
  let log: InMemoryLog
  private let group = Shared<ServiceGroup?>(nil)
  private let isLeaving = Shared(false)
  private let over = Shared(false)
  private let runtime = Shared<WorkerRuntime?>(nil)
  private let task: Task<(any Error)?, Never>

  /// Whether the process has ended.
  var isOver: Bool { over.get() }

  init(log: InMemoryLog, isKept: Bool, _ make: @escaping @Sendable (InMemoryLog) -> WorkerRuntime) {
    self.log = log
    task = Task { [group, isLeaving, over, runtime] in
      defer { over.set(true) }
      while true {
        let made = make(log)
        runtime.set(made)
        let service = ServiceGroup(
          configuration: .init(
            services: [.init(service: made, successTerminationBehavior: .gracefullyShutdownGroup)],
            logger: WorkerFleet.logger)
        )
        group.set(service)
        if isLeaving.get() { return nil }
        var end: (any Error)?
        do { try await service.run() } catch { end = error }
        if let end { WorkerFleet.logger.error("a process ended", metadata: ["error": "\(end)"]) }
        if !isKept || end == nil || Task.isCancelled || log.isCrashed || isLeaving.get() { return end }
        await Task.yield()
      }
    }
  }

  /// The readiness of the worker.
  var readiness: WorkerReadiness? { runtime.get()?.readiness }

  /// Returns the number of records in memory, nil while lanes start.
  func held() async -> Int? { await runtime.get()?.rest()?.held }

  /// Returns the lanes that run in this process.
  func lanes() async -> Set<Int32> { Set((await runtime.get()?.rest()?.taken.keys).map { $0.map(\.partition) } ?? []) }

  /// Measures the lag, as the process does every ten seconds.
  func measureLag() async { await runtime.get()?.measureLag() }

  /// Compares the topics with the records that were read, as the process does every minute.
  func checkTopics() async { await runtime.get()?.checkTopics() }

  /// Returns the number of ledgers that the process keeps of lanes that have left it.
  func keptLedgers() async -> Int? { await runtime.get()?.keptLedgers() }

  /// Crashes the process.
  func crash() async {
    log.crash()
    task.cancel()
    _ = await task.value
  }

  /// Starts a graceful stop, as SIGTERM does.
  func leave() async {
    isLeaving.set(true)
    await group.get()?.triggerGracefulShutdown()
  }

  /// Waits for the end of the process and returns its error.
  func end() async -> (any Error)? { await task.value }

  /// A shared variable.
  final class Shared<Value: Sendable>: Sendable {
    private let value: Mutex<Value>
    init(_ value: Value) { self.value = Mutex(value) }
    func get() -> Value { value.withLock { $0 } }
    func set(_ new: Value) { value.withLock { $0 = new } }
    func change(_ body: (inout sending Value) -> Void) { value.withLock { body(&$0) } }
  }
}
