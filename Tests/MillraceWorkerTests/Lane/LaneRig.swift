// Drives a `LaneState` without tasks: a log of arrays, a handler that the test steps through, and commits that the test
// lets succeed, fail or break off.

import AppStore
import AppStoreSigning
import KafkaClient
import Logging
import MillraceTime
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

/// The partitions of one lane as arrays, and the offsets that its group has committed.
struct LaneLog {
  private(set) var records: [String: [ConsumerRecord]] = [:]
  private(set) var committed: [String: CommittedOffset] = [:]
  /// The ledger that a successor would restore.
  private(set) var durable = Ledger()

  func end(of topic: String) -> Int64 { Int64(records[topic]?.count ?? 0) }

  mutating func append(_ record: ProducerRecord, at now: Timestamp) {
    let written = ConsumerRecord(
      topic: record.topic, partition: 0, offset: end(of: record.topic), timestamp: now.millisecondsSince1970,
      key: record.key, value: record.value, headers: record.headers)
    records[record.topic, default: []].append(written)
  }

  /// Writes in the order of the mode, and at most `steps` records without transactions.
  /// - Returns: Whether everything was written.
  mutating func commit(
    _ commit: LaneCommit, mode: CommitProtocol.Mode, steps: Int, at now: Timestamp
  ) throws -> Bool {
    var left = mode == .transactional && steps < .max ? 0 : steps
    func spend() -> Bool {
      left -= 1
      return left >= 0
    }
    for record in commit.writes.flatMap(\.records) where spend() { append(record, at: now) }
    for record in commit.ledger where spend() {
      append(record, at: now)
      try durable.restore(#require(records[record.topic]?.last))
    }
    guard spend() else { return false }
    for offset in commit.offsets { committed[offset.partition.topic] = offset }
    return true
  }
}

/// One lane and its log.
struct LaneRig {
  /// The start of the tests' time.
  static let live = "live"

  let seed: UInt64
  let mode: CommitProtocol.Mode
  private(set) var rules: LaneRules
  let topics: WorkerTopics
  var log = LaneLog()
  var now = Timestamp.second(0)
  private(set) var state: LaneState
  private(set) var jobs: [LaneJob] = []
  private(set) var faults: [MillraceError] = []
  private var batch = CommitBatch<LaneWrite>(limit: 5, interval: .zero)
  private var next: [String: Int64] = [:]
  private var unplaced: [String: LaneItem] = [:]
  private var epoch: UInt64 = 1

  init(
    seed: UInt64 = 0, mode: CommitProtocol.Mode = .transactional,
    logger: Logger = Logger(label: "mill") { _ in SwiftLogNoOpLogHandler() },
    _ change: (inout WorkerPolicy) -> Void = { _ in }
  ) {
    var policy = WorkerPolicy()
    policy.retryDelays = [.seconds(10), .seconds(60), .seconds(600)]
    policy.maximumAttempts = 6
    (policy.recordsInFlight, policy.bytesInFlight, policy.parallelism) = (12, 12_000, 4)
    change(&policy)
    self.seed = seed
    self.mode = mode
    topics = WorkerTopics(worker: "mill", inputs: [Self.live], delays: policy.retryDelays, prefix: "")
    rules = LaneRules(
      policy: policy, topics: topics,
      planner: OutcomePlanner(records: OutcomeRecords(topics: topics, prefix: ""), schedule: policy.schedule),
      deadline: { _, _ in nil },
      metrics: WorkerMetrics(worker: "mill", factory: PrometheusRegistry(describing: WorkerMetrics.helpTexts)),
      failures: FailureLog(worker: "mill", logger, clock: .system), logger: logger)
    state = Self.start(1, log, keeping: nil, rules, at: now)
    next = Dictionary(uniqueKeysWithValues: topics.sources.map { ($0, 0) })
    batch.attach(state.epoch)
  }

  private static func start(
    _ epoch: UInt64, _ log: LaneLog, keeping ledger: Ledger?, _ rules: LaneRules, at now: Timestamp
  ) -> LaneState {
    let starts = rules.topics.sources.map { ($0, log.committed[$0]?.offset ?? 0) }
    // No record of these tests kills its process, so all earlier owners have survived.
    let watch = PoisonDetector(
      metadata: log.committed.mapValues(\.metadata), owner: UInt32(epoch), survivors: Set(0..<UInt32(epoch)),
      patience: 100)
    return LaneState(
      epoch: LaneEpoch(lane: 0, epoch: epoch), starts: Dictionary(uniqueKeysWithValues: starts),
      ledger: ledger ?? log.durable, watch: watch, rules: rules, now: now)
  }

  /// Starts the lane again from what is committed.
  /// - Parameter isSameProcess: Whether the lane comes back with the ledger that this process had.
  mutating func restart(isSameProcess: Bool = false) {
    var kept = isSameProcess && mode == .transactional ? state.committedLedger() : nil
    if kept != nil { kept = log.durable }
    epoch += 1
    state = Self.start(epoch, log, keeping: kept, rules, at: now)
    next = Dictionary(uniqueKeysWithValues: topics.sources.map { ($0, log.committed[$0]?.offset ?? 0) })
    (jobs, unplaced, batch) = ([], [:], CommitBatch(limit: 5, interval: .zero))
    batch.attach(state.epoch)
  }

  /// How the lane erases customers. A change takes effect with a restart.
  var erasure: ErasureRules {
    get { rules.erasure }
    set {
      rules.erasure = newValue
      restart()
    }
  }

  // MARK: - Inputs

  /// Writes a notification to the live topic.
  mutating func produce(_ id: String, key: String) { log.append(Self.record(id, key: key), at: now) }

  static func record(_ id: String, key: String, on topic: String = live, _ more: [RecordHeader] = []) -> ProducerRecord
  {
    ProducerRecord(
      topic: topic, key: Array(key.utf8), value: Array(id.utf8),
      headers: [
        RecordHeader("ce_specversion", "1.0"), RecordHeader("ce_id", id),
        RecordHeader("ce_type", "com.apple.appstore.notification.v2.DID_RENEW"),
        RecordHeader("ce_source", "appstore/Production/com.example.a"), RecordHeader("ce_subject", key),
      ] + more)
  }

  /// Reads the next record of a topic if there is one and the lane has room.
  mutating func read(_ topic: String) {
    guard state.isRunning else { return }
    if let item = unplaced[topic] {
      if state.place(item) { unplaced[topic] = nil }
    } else if let offset = next[topic], offset < log.end(of: topic), state.hasRoom(for: topics.source(of: topic)),
      let record = log.records[topic]?[Int(offset)]
    {
      next[topic] = offset + 1
      let items = LaneItem.batch([record], source: topics.source(of: topic))
      if let item = items.first.flatMap({ state.receive($0, now: now) }), !state.place(item) { unplaced[topic] = item }
    }
    state.dispatch(now: now)
    carryOut()
  }

  mutating func readAll() { for topic in topics.sources { while next[topic] != log.end(of: topic) { read(topic) } } }

  @discardableResult
  mutating func passTime(_ seconds: Int64 = 0) -> Timestamp {
    now = now + .seconds(seconds)
    guard state.isRunning else { return now }
    let next = state.timePassed(now: now)
    carryOut()
    return next
  }

  /// Takes the first job that waits for a handler.
  mutating func takeJob() -> LaneJob? { jobs.isEmpty ? nil : jobs.removeFirst() }

  /// Takes the first job; the test fails if there is none.
  mutating func job() throws -> LaneJob {
    let job = takeJob()
    return try #require(job)
  }

  mutating func end(_ job: LaneJob, _ result: HandlerResult, open: Set<String> = [], began: Timestamp? = nil) {
    guard state.acceptsOutcomes else { return }
    state.ended(job, result, open: open, began: began ?? now, now: now)
    state.dispatch(now: now)
    carryOut()
  }

  mutating func change(_ change: (inout LaneState) -> Void) {
    change(&state)
    carryOut()
  }

  private mutating func carryOut() {
    let actions = state.takeActions()
    if !actions.writes.isEmpty {
      check(batch.add(actions.writes, of: state.epoch, isUrgent: false, now: .second(0)))
    }
    jobs += actions.jobs
    if let fault = actions.fault { faults.append(fault) }
  }

  // MARK: - Commits

  /// The result of a commit.
  enum Fate { case committed, aborted, crash(steps: Int) }

  /// Commits the next batch.
  /// - Parameter change: An input of the lane after its offsets are sealed.
  /// - Returns: False if the process crashed during the commit.
  mutating func commit(_ fate: Fate = .committed, meanwhile change: (inout LaneState) -> Void = { _ in }) throws -> Bool
  {
    guard let writes = batch.begin(now: .second(0))?.flatMap(\.writes) else { return true }
    guard let sealed = state.seal(writes, pageNumber: 1, now: now) else { return true }
    self.change(change)
    switch fate {
    case .aborted:
      // Without transactions, records that were written before the failure stay written.
      if mode == .atLeastOnce {
        var partial = sealed
        partial.offsets = []
        _ = try log.commit(partial, mode: mode, steps: 2, at: now)
      }
      check(batch.aborted().isEmpty)
    case .crash(let steps):
      _ = try log.commit(sealed, mode: mode, steps: steps, at: now)
      return false
    case .committed:
      check(try log.commit(sealed, mode: mode, steps: .max, at: now))
      _ = batch.committed()
      state.committed(sealed, now: now)
      carryOut()
      for write in writes { write.receipt?.settle(.committed) }
    }
    return true
  }

  /// Commits until nothing is left to commit.
  mutating func commitAll() throws { while batch.count > 0 { _ = try commit() } }

  /// Whether the lane has read, handled and committed everything.
  var isIdle: Bool {
    let rest = state.rest(now: now)
    return rest.held == 0 && rest.isQuiet && batch.count == 0 && unplaced.isEmpty
      && topics.sources.allSatisfy { next[$0] == log.end(of: $0) }
  }

  /// The ids of published events, in order.
  var events: [String] {
    (log.records[topics.events] ?? []).compactMap { record in
      record.headers.first { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) }
    }
  }

  var deadLetters: [ConsumerRecord] { log.records[topics.deadLetters] ?? [] }
}

extension LaneJob {
  /// The record of the job; nil for a timer.
  var item: LaneItem? { if case .record(let item) = input { item } else { nil } }
}
