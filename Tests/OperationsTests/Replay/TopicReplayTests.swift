// Replays to a topic with a crash at every possible point, and by two processes at once.

import AppStore
import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceTesting
import MillraceWorker
import Synchronization
import Testing

@testable import Operations

/// A log whose process crashes at its n-th write: before the write, or after it and before the caller gets the result.
private struct DyingLog: ForwardingLog {
  struct Fuse: Sendable {
    private final class Count: Sendable {
      let left: Mutex<Int>
      init(_ left: Int) { self.left = Mutex(left) }
    }
    private let count: Count
    let log: InMemoryLog
    let isBefore: Bool

    init(_ log: InMemoryLog, after calls: Int, isBefore: Bool) {
      (self.log, self.isBefore) = (log, isBefore)
      count = Count(calls)
    }

    func burn<Value: Sendable>(_ body: () async throws(KafkaError) -> Value) async throws(KafkaError) -> Value {
      let isLast = count.left.withLock { left in
        left -= 1
        return left == 0
      }
      if isLast, isBefore { log.crash() }
      let value = try await body()
      if isLast { log.crash() }
      return value
    }
  }

  let log: InMemoryLog
  let fuse: Fuse
  let hasTransactions: Bool

  var description: LogDescription {
    LogDescription(clusterID: "dying", capabilities: hasTransactions ? .all : .embeddedCluster)
  }

  func makeWriter() throws(KafkaError) -> any LogWriter { Writer(inner: try log.makeWriter(), fuse: fuse) }
  func makeTransactionalWriter(id: String, timeout: Duration) throws(KafkaError) -> any TransactionalLogWriter {
    Transactions(inner: try log.makeTransactionalWriter(id: id, timeout: timeout), fuse: fuse)
  }
  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    // Small pages result in many points to crash at.
    try await log.scan(partition, from: start, to: end, upTo: min(limit, 5), body)
  }

  struct Writer: LogWriter {
    let inner: any LogWriter
    let fuse: Fuse
    func run() async throws(KafkaError) { try await inner.run() }
    func shutDown() { inner.shutDown() }
    func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {}
    func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
      try await fuse.burn { () async throws(KafkaError) in try await inner.send(record) }
    }
  }

  struct Transactions: TransactionalLogWriter {
    let inner: any TransactionalLogWriter
    var hasUnansweredRequest: Bool { inner.hasUnansweredRequest }
    let fuse: Fuse
    func run() async throws(KafkaError) { try await inner.run() }
    func shutDown() { inner.shutDown() }
    func prepare(_ topics: [String], timeout: Duration) async throws(KafkaError) {}
    func send(_ record: ProducerRecord) async throws(KafkaError) -> RecordPosition {
      try await fuse.burn { () async throws(KafkaError) in try await inner.send(record) }
    }
    func initialize(timeout: Duration) async throws(KafkaError) {
      try await fuse.burn { () async throws(KafkaError) in try await inner.initialize(timeout: timeout) }
    }
    func begin() async throws(KafkaError) { try await inner.begin() }
    func sendOffsets(
      _ offsets: [CommittedOffset], group: GroupMetadata, timeout: Duration
    ) async throws(KafkaError) { try await inner.sendOffsets(offsets, group: group, timeout: timeout) }
    func commit(timeout: Duration) async throws(KafkaError) {
      try await fuse.burn { () async throws(KafkaError) in try await inner.commit(timeout: timeout) }
    }
    func abort(timeout: Duration) async throws(KafkaError) { try await inner.abort(timeout: timeout) }
  }
}

@Suite(.timeLimit(.minutes(15))) struct TopicReplayTests {
  private static let (source, target) = ("appstore.notifications.refunds", "copies")
  private static let count = 24

  private func stage() async throws -> (InMemoryLog, ReplayOperation, ReplayRun) {
    let log = try filled()
    let replay = ReplayOperation(on: log, prefix: "", author: "ann", clock: ManualClock().clock)
    return (log, replay, try #require(try await begin(replay)))
  }

  private func begin(_ replay: ReplayOperation) async throws -> ReplayRun? {
    var selection = RecordSelection()
    (selection.topics, selection.types) = ([Self.source], ["REFUND"])
    return try await replay.begin(try await replay.plan(ReplayRequest(selection, to: .topic(Self.target))))
  }

  private func filled(_ time: ManualClock = ManualClock()) throws -> InMemoryLog {
    let log = InMemoryLog(clock: time.clock)
    try log.createTopic(Self.source, partitions: 2)
    try log.createTopic(Self.target, partitions: 3)
    for name in ["millrace.operations", "millrace.audit"] { try log.createTopic(name, partitions: 1) }
    for number in 0..<Self.count {
      let type = number.isMultiple(of: 3) ? "REVOKE" : "REFUND"
      try log.append(
        ProducerRecord(
          topic: Self.source, partition: Int32(number % 2), key: Array("k\(number)".utf8), value: [UInt8(number)],
          headers: [
            RecordHeader("ce_id", "n\(number)"), RecordHeader("ce_origin", "post"),
            RecordHeader("ce_type", "com.apple.appstore.notification.v2.\(type)"),
          ]))
    }
    return log
  }

  private func ids(_ log: InMemoryLog) -> [String] {
    log.records(in: Self.target).map { record in
      record.headers.last { $0.name == "ce_id" }?.value.map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
  }

  private static let chosen = Set((0..<count).filter { !$0.isMultiple(of: 3) }.map { "n\($0)" })

  @Test func `copies equal their originals and are marked, and the end is in the audit trail`() async throws {
    let (log, replay, run) = try await stage()
    #expect(run.state == .running && run.target == .topic(Self.target))
    try await replay.carryOut(run.id)
    #expect(ids(log).count == Self.chosen.count && Set(ids(log)) == Self.chosen)
    let copy = try #require(log.records(in: Self.target).first)
    func text(_ name: String) -> [String] {
      copy.headers.filter { $0.name == name }.map { String(decoding: $0.value ?? [], as: UTF8.self) }
    }
    #expect(text("ce_origin") == ["replay"] && text("ce_replayid") == [run.id])
    #expect(text("ce_replayof").first?.hasPrefix("\(Self.source)/") == true)
    #expect(try await replay.book()[run.id]?.state == .done)
    let entry = try #require(try await AuditLog(on: log, prefix: "").trail().entries.first)
    #expect(entry.isOver && entry.counts == [.init("sent", Int64(Self.chosen.count))] && entry.target == Self.target)
    // Running it again copies nothing.
    try await replay.carryOut(run.id)
    #expect(ids(log).count == Self.chosen.count)
  }

  @Test(arguments: [true, false], [true, false])
  func `after a crash at any point, every record is copied exactly once`(
    hasTransactions: Bool, isBefore: Bool
  ) async throws {
    var (calls, survived) = (1, false)
    while !survived {
      let (log, _, run) = try await stage()
      let process = log.process("first")
      let fuse = DyingLog.Fuse(process, after: calls, isBefore: isBefore)
      let dying = DyingLog(log: process, fuse: fuse, hasTransactions: hasTransactions)
      let first = ReplayOperation(on: dying, prefix: "", author: "ann", clock: ManualClock().clock)
      do {
        try await first.carryOut(run.id)
        survived = !process.isCrashed
      } catch {
        #expect(process.isCrashed, "\(calls): \(error)")
      }
      let again = DyingLog(
        log: log.process("second"), fuse: .init(log, after: .max, isBefore: false), hasTransactions: hasTransactions)
      let second = ReplayOperation(on: again, prefix: "", author: "bob", clock: ManualClock().clock)
      try await second.carryOut(run.id)
      let copies = ids(log)
      #expect(Set(copies) == Self.chosen && copies.count == Self.chosen.count, "call \(calls): \(copies)")
      #expect(try await second.book()[run.id]?.state == .done, "call \(calls)")
      calls += 1
    }
    #expect(calls > 10, "there were too few crash points")
  }

  @Test(arguments: [LogOperation.send, .commitTransaction], [FaultReach.refused, .unacknowledged])
  func `after a request without an answer another client continues, and every record is copied once`(
    _ step: LogOperation, _ reach: FaultReach
  ) async throws {
    try await requireEveryCopyOnce(step, reach) { step in
      KafkaError(
        code: .timedOut, operation: "test", reason: "test", isRetriable: step == .commitTransaction,
        requiresAbort: step == .send)
    }
  }

  @Test(arguments: [FaultReach.refused, .unacknowledged])
  func `after a fatal Produce without an answer another client continues, and every record is copied once`(
    _ reach: FaultReach
  ) async throws {
    try await requireEveryCopyOnce(.send, reach) { _ in
      KafkaError(code: .timedOut, operation: "test", reason: "test", isFatal: true)
    }
  }

  private func requireEveryCopyOnce(
    _ step: LogOperation, _ reach: FaultReach, _ fault: (LogOperation) -> KafkaError
  ) async throws {
    let (log, _, run) = try await stage()
    let process = log.process("first")
    let error = fault(step)
    process.fail(step, with: [error], in: step == .send ? Self.target : nil, reach: reach)
    let replay = ReplayOperation(on: process, prefix: "", author: "ann")
    try await replay.carryOut(run.id)
    #expect(ids(log).count == Self.chosen.count && Set(ids(log)) == Self.chosen)
    #expect(try await replay.book()[run.id]?.state == .done)
    // The start of the run had the first client.
    #expect(log.epoch(ofTransactionalID: "millrace.replay.\(run.id)") == 2)
  }

  @Test(arguments: [true, false])
  func `after a crash at any point of a start, every audit entry gets an end`(
    isBefore: Bool
  ) async throws {
    var (calls, survived, silent) = (1, false, 0)
    while !survived {
      let log = try filled()
      let process = log.process("first")
      let dying = DyingLog(
        log: process, fuse: .init(process, after: calls, isBefore: isBefore), hasTransactions: false)
      do {
        _ = try await begin(ReplayOperation(on: dying, prefix: "", author: "ann", clock: ManualClock().clock))
        survived = !process.isCrashed
      } catch {
        #expect(process.isCrashed, "\(calls): \(error)")
      }
      // The log's clock is far behind the system clock, so the run is silent.
      let bob = ReplayOperation(on: log.process("second"), prefix: "", author: "bob")
      func open() async throws -> [AuditSurvey.Line] {
        try await AuditLog(on: log, prefix: "").survey(at: MillraceClock.system.wallTime).lines(isOpenOnly: true)
      }
      for line in try await open() {
        guard case .silent = line.status else {
          Issue.record("call \(calls): \(line)")
          continue
        }
        silent += 1
        let run = try await bob.control(line.entry.run, .stop)
        if let run { try await bob.concludeStop(of: run, patience: .milliseconds(1)) }
      }
      // The parts that were started have ended. A second stop ends a run that lacks parts.
      for line in try await open() { #expect(try await bob.control(line.entry.run, .stop) == nil, "call \(calls)") }
      #expect(try await open().isEmpty, "call \(calls)")
      #expect(try await bob.book().runs.allSatisfy(\.isOver) && ids(log).isEmpty, "call \(calls)")
      calls += 1
    }
    #expect(silent > 1, "there were too few crash points")
  }

  @Test(arguments: [true, false])
  func `with transactions, a crash during the start leaves all parts of a run or none`(
    isBefore: Bool
  ) async throws {
    var (calls, survived) = (1, false)
    var parts: Set<Int> = []
    while !survived {
      let time = ManualClock()
      let log = try filled(time)
      let process = log.process("first")
      let dying = DyingLog(log: process, fuse: .init(process, after: calls, isBefore: isBefore), hasTransactions: true)
      do {
        _ = try await begin(ReplayOperation(on: dying, prefix: "", author: "ann", clock: time.clock))
        survived = !process.isCrashed
      } catch {
        #expect(process.isCrashed, "\(calls): \(error)")
      }
      // Lets the open transaction time out.
      time.advance(by: .seconds(11))
      let runs = try await ReplayOperation(on: log, prefix: "", author: "bob").book().runs
      let entries = try await AuditLog(on: log, prefix: "").trail().entries
      #expect(runs.map(\.id) == entries.map(\.run), "call \(calls)")
      #expect(runs.allSatisfy { $0.parts.count == 2 && $0.missing == 0 }, "call \(calls): \(runs)")
      parts.insert(runs.count)
      calls += 1
    }
    #expect(parts == [0, 1] && calls > 5, "there were too few crash points")
  }

  @Test func `an unreadable record among the commands is skipped and reported`() async throws {
    let (log, _, run) = try await stage()
    for value in ["not JSON", #"{"text": "for people"}"#] {
      try log.append(
        ProducerRecord(topic: "millrace.operations", partition: 0, key: Array(value.utf8), value: Array(value.utf8)))
    }
    let notes = Mutex<[String]>([])
    let replay = ReplayOperation(on: log, prefix: "", author: "ann", clock: ManualClock().clock) { note in
      notes.withLock { $0.append(note) }
    }
    try await replay.carryOut(run.id)
    #expect(try await replay.book()[run.id]?.state == .done)
    _ = try await replay.follow(run.id, patience: .seconds(60)) { _ in }
    let first = try #require(notes.withLock { $0 }.first)
    #expect(first.hasPrefix("Skipped 2 unreadable records; the first: millrace.operations[0]@"))
    #expect(notes.withLock { $0 } == [first, first, first])
    #expect(Set(ids(log)) == Self.chosen)
  }

  @Test func `a stop before the first part ends the run before anything is sent`() async throws {
    let (log, replay, run) = try await stage()
    _ = try await ReplayOperation(on: log, prefix: "", author: "bob").control(run.id, .stop)
    #expect(try await replay.book()[run.id]?.state == .stopping)
    // No process runs it, so the operator who stops it also ends it.
    let bob = ReplayOperation(on: log, prefix: "", author: "bob")
    try await bob.concludeStop(of: run, patience: .milliseconds(1))
    #expect(ids(log).isEmpty)
    let end = try #require(try await replay.book()[run.id])
    #expect(end.state == .stopped && end.sent == 0 && end.offsetsDone == 0)
  }
}
