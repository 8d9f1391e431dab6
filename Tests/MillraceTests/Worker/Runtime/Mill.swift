// Several processes of one worker over one log in memory: the real runtime, a handler that a test writes, and no time but
// what the test lets pass.

import AppStore
import Clocks
import Foundation
import Kafka
import Logging
import MillraceTesting
import ServiceLifecycle
import Synchronization
import Testing

@testable import Millrace

/// The log, the topics and the policy that processes of one worker share.
struct Mill {
  /// Silent; `MILL_LOG` in the environment lets a person read along.
  static var logger: Logger {
    Logger(label: "mill") { label in
      guard ProcessInfo.processInfo.environment["MILL_LOG"] != nil else { return SwiftLogNoOpLogHandler() }
      return StreamLogHandler.standardError(label: label)
    }
  }

  static let live = "appstore.notifications.subscriptions"

  let time: ManualClock
  /// What processes read; the log reads ``time``.
  let clock: MillraceClock
  /// Of all processes.
  let metrics = WorkerProcess.makeRegistry()
  let log: InMemoryLog
  let topics: WorkerTopics
  let policy: WorkerPolicy
  let commit: KafkaSettings.Commit

  /// - Parameter replayLanes: Partitions of the `replay` topic, where they are to be others than the rest's.
  init(
    lanes: Int, replayLanes: Int? = nil, commit: KafkaSettings.Commit = .transactional, tables: [String] = [],
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
      worker: "mill", inputs: [Self.live], tables: tables, delays: policy.retryDelays, prefix: "")
    for topic in topics.laneTopics {
      try log.createTopic(topic, partitions: topic == topics.replay ? replayLanes ?? lanes : lanes)
    }
    for topic in topics.others { try log.createTopic(topic, partitions: 1) }
    for topic in topics.tables { try log.createTopic(topic, partitions: 3) }
  }

  /// Starts a process; where `isKept`, one that ends with an error is started anew, as its supervisor would.
  /// - Parameter watch: Told of every call that the process makes of the log, before it is made.
  func start(
    _ name: String, isKept: Bool = true, staticMember: String? = nil, watch: LogWatch? = nil,
    _ handler: any LaneHandling
  ) -> MillProcess {
    MillProcess(log: log.process(name), isKept: isKept) { log in
      runtime(on: watch.map { WatchedLog(log: log, watch: $0) } ?? log, staticMember: staticMember, handler)
    }
  }

  /// A process to be run by the test itself.
  func runtime(
    on log: any RecordLog, staticMember: String? = nil, _ handler: any LaneHandling
  ) -> WorkerRuntime {
    var generator = SystemRandomNumberGenerator()
    return WorkerRuntime(
      WorkerRuntime.Parts(
        name: "mill", log: log, topics: topics, prefix: "", policy: policy, commit: commit,
        instance: String(generator.next(), radix: 36), staticMember: staticMember, handler: handler,
        deadline: { _, _ in nil }, budget: nil, pauses: nil, clock: clock,
        metrics: WorkerMetrics(worker: "mill", factory: metrics), logger: Mill.logger))
  }

  /// Puts a notification in; `id` is also its value.
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

  /// Lets time pass until something holds.
  /// - Returns: the time that passed; nil where it never held.
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

  /// Lets that much time pass, in steps between which transactions end: hours in the middle of one would be a process that
  /// stood still for hours, which Kafka takes for dead.
  func pass(_ duration: Duration) async {
    let end = time.clock.now.advanced(by: duration)
    while time.clock.now < end {
      time.advance(by: min(.seconds(1), time.clock.now.duration(to: end)))
      repeat { for _ in 0..<10 { await Task.yield() } } while log.hasOpenTransactions && !Task.isCancelled
    }
  }

  /// Lets time pass until a process is over.
  /// - Returns: the time that passed and what ended it; nil where the process lived on.
  func end(of process: MillProcess, within limit: Duration = .seconds(600)) async -> (
    time: Duration, error: (any Error)?
  )? {
    guard let time = await until(within: limit, { process.isOver }) else { return nil }
    return (time, await process.end())
  }

  /// `ce_id` of every event that a `read_committed` reader finds.
  func eventIDs() -> [String] { log.records(in: topics.events).map { Self.header("ce_id", of: $0) } }

  /// The notification of every event that a `read_committed` reader finds, in order.
  func answered() -> [String] { log.records(in: topics.events).map { Self.header("ce_notificationid", of: $0) } }

  /// Reason and notification of every dead letter.
  func dead() -> [String: String] {
    let letters = log.records(in: topics.deadLetters)
    return Dictionary(letters.map { (Self.header("ce_id", of: $0), Self.header("millrace-reason", of: $0)) }) { $1 }
  }

  static func header(_ name: String, of record: ConsumerRecord) -> String {
    record.headers.last { $0.name == name }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// What was asked of the worker, and what became of it.
  func operations() -> OperationsLog {
    var operations = OperationsLog(worker: "mill")
    for record in log.records(in: topics.operations) {
      if let operation = OperationsRecord(record) { _ = operations.fold(operation) }
    }
    return operations
  }

  /// What a lane that starts now would know.
  func ledger() throws -> Ledger {
    var ledger = Ledger()
    for record in log.records(in: topics.ledger) {
      ledger.restore(try LedgerRecord(key: record.key ?? [], value: record.value).entry())
    }
    return ledger
  }

  /// Records of the live topic that the group has not committed.
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

/// One process of the worker.
struct MillProcess {
  let log: InMemoryLog
  private let group = Shared<ServiceGroup?>(nil)
  private let isLeaving = Shared(false)
  private let over = Shared(false)
  private let runtime = Shared<WorkerRuntime?>(nil)
  private let task: Task<(any Error)?, Never>

  /// Whether ``end()`` has an answer.
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
            logger: Mill.logger)
        )
        group.set(service)
        if isLeaving.get() { return nil }
        var end: (any Error)?
        do { try await service.run() } catch { end = error }
        if let end { Mill.logger.error("a process ended", metadata: ["error": "\(end)"]) }
        if !isKept || end == nil || Task.isCancelled || log.isCrashed || isLeaving.get() { return end }
        await Task.yield()
      }
    }
  }

  /// How many of the worker's records are in memory; nil while lanes start.
  func held() async -> Int? { await runtime.get()?.rest()?.held }

  /// The lanes that run here.
  func lanes() async -> Set<Int32> { Set((await runtime.get()?.rest()?.taken.keys).map { $0.map(\.partition) } ?? []) }

  /// Dies without a word.
  func crash() async {
    log.crash()
    task.cancel()
    _ = await task.value
  }

  /// Is asked to leave, as by SIGTERM.
  func leave() async {
    isLeaving.set(true)
    await group.get()?.triggerGracefulShutdown()
  }

  /// Waits until it is over.
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
