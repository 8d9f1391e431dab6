// Tests the start of a lane while a former leader, which was suspended, still answers from its old state.

import KafkaClient
import MillraceTesting
import MillraceTime
import Synchronization
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct LaneStartTests {
  @Test func `the high watermark of a former leader hides nothing that the last owner did`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    // The slow record keeps the committed offset in front of the quick one, which only the ledger knows as done.
    let first = fleet.start(
      "p", isKept: false,
      FleetHandler(book) { item, recorder in
        if item.id == "slow" { try await fleet.clock.sleep(until: fleet.clock.now.advanced(by: .seconds(86_400))) }
        try await FleetHandler.cause("effect/\(item.id)", recorder, in: book)
        return try await FleetHandler.answer(item, recorder)
      })
    try fleet.put("slow", key: "a")
    try fleet.put("quick", key: "b")
    #expect(await fleet.until { fleet.answered() == ["quick"] && !fleet.log.hasOpenTransactions } != nil)
    await first.crash()

    let former = FormerLeader(ofTopics: [fleet.topics.ledger], end: 0, answers: .max)
    let second = FleetProcess(log: fleet.log.process("q"), isKept: false) { log in
      fleet.runtime(on: FormerLeaderLog(log: log, former: former), causing(book))
    }
    #expect(await fleet.until { fleet.answered().contains("slow") && fleet.isRead() } != nil)
    #expect(fleet.answered() == ["quick", "slow"])
    #expect(book.runs["quick"] == 1)
    #expect(book.calls.values.allSatisfy { $0.count == 1 })
    await second.crash()
  }

  @Test func `a lane starts although a former leader does not know its committed offset yet`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    let first = fleet.start("p", isKept: false, FleetHandler(book))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    await first.crash()

    let former = FormerLeader(ofTopics: fleet.topics.sources, end: 0, answers: 2)
    let second = FleetProcess(log: fleet.log.process("q"), isKept: false) { log in
      fleet.runtime(on: FormerLeaderLog(log: log, former: former), FleetHandler(book))
    }
    try fleet.put("n1", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0", "n1"] && fleet.isRead() || second.isOver } != nil)
    #expect(!second.isOver && former.answersLeft == 0)
    await second.crash()
  }

  @Test func `a worker whose offsets have expired does not start at the end`() async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.start = .latest }
    let book = Book()
    try fleet.put("before", key: "k")
    let first = fleet.start("p", isKept: false, FleetHandler(book))
    #expect(await fleet.until { fleet.isRead() } != nil)
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    await first.crash()
    try fleet.put("n1", key: "k")
    fleet.log.expireOffsets(of: fleet.topics.group)

    let second = fleet.start("q", isKept: false, FleetHandler(book))
    let end = await fleet.end(of: second)
    #expect("\(try #require(end?.error))".contains("workers.mill.start"))
    #expect(fleet.answered() == ["n0"])
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a worker that was killed before its first commit starts at the end again`(
    _ commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit) { $0.start = .latest }
    let book = Book()
    let first = fleet.start("p", isKept: false, FleetHandler(book))
    let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)
    first.log.fail(.commitOffsets, with: Array(repeating: away, count: 10_000))
    #expect(await fleet.until { !fleet.log.records(in: fleet.topics.ledger).isEmpty } != nil)
    await fleet.until(within: .seconds(30)) { false }
    await first.crash()
    let second = fleet.start("q", isKept: false, FleetHandler(book))
    #expect(await fleet.until { second.readiness?.isReady == true || second.isOver } != nil)
    #expect(!second.isOver, "it takes the missing offset for a deleted one")
    await second.crash()
  }

  @Test func `an outage does not end a worker although a broker does not know its topics at first`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let isAway = FleetProcess.Shared(false)
    let worker = FleetProcess(log: fleet.log.process("p"), isKept: false) { log in
      fleet.runtime(on: Restarting(log: log, isAway: isAway), FleetHandler(Book()))
    }
    #expect(await fleet.until { worker.readiness?.isReady == true } != nil)
    isAway.set(true)
    let measuring = Task { for _ in 0..<4 { await worker.measureLag() } }
    await fleet.until(within: .seconds(30)) { worker.isOver }
    isAway.set(false)
    let hasMeasured = FleetProcess.Shared(false)
    let watching = Task {
      await measuring.value
      hasMeasured.set(true)
    }
    #expect(await fleet.until { hasMeasured.get() || worker.isOver } != nil)
    #expect(!worker.isOver, "the process ended")
    await worker.crash()
    await watching.value
  }

  private static let unknown = KafkaError(
    code: KafkaError.Code(rawValue: -190), operation: "test", reason: "unknown partition")

  @Test(arguments: [LogOperation.committed, .send, .read])
  func `a lane runs although a broker does not know its topics for a while`(at step: LogOperation) async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let process = fleet.log.process("p")
    process.fail(step, with: Array(repeating: Self.unknown, count: 5))
    try fleet.put("n0", key: "k")
    let worker = FleetProcess(log: process, isKept: false) { fleet.runtime(on: $0, FleetHandler(Book())) }
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() || worker.isOver } != nil)
    #expect(!worker.isOver, "the process ended")
    await worker.crash()
  }

  @Test func `a worker starts although no scan finds its topics at first`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let failures = FleetProcess.Shared(30)
    let worker = FleetProcess(log: fleet.log.process("p"), isKept: false) { log in
      fleet.runtime(on: FailingScans(log: log, failures: failures), FleetHandler(Book()))
    }
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && failures.get() == 0 || worker.isOver } != nil)
    #expect(!worker.isOver, "the process ended")
    await worker.crash()
  }

  @Test func `a worker whose topic stays unknown names it`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let reads = TopicReadRetry(
      topics: fleet.topics, log: WithoutTopics(log: fleet.log), clock: fleet.clock, logger: WorkerFleet.logger)
    let failed = FleetProcess.Shared<(any Error)?>(nil)
    let call = Task {
      do { try await reads.run("cannot test") { throw Self.unknown } } catch { failed.set(error) }
    }
    let time = try #require(await fleet.until { failed.get() != nil })
    #expect(time >= TopicReadRetry.unknownTopicLimit && time < TopicReadRetry.unknownTopicLimit * 2)
    #expect("\(try #require(failed.get()))".contains(fleet.topics.ledger))
    await call.value
    failed.set(nil)
    let look = Task { do { try await reads.confirmTopics() } catch { failed.set(error) } }
    #expect(await fleet.until { failed.get() != nil } != nil)
    #expect(failed.get() is MillraceError)
    await look.value
  }

  private func causing(_ book: Book) -> FleetHandler {
    FleetHandler(book) { item, recorder in
      try await FleetHandler.cause("effect/\(item.id)", recorder, in: book)
      return try await FleetHandler.answer(item, recorder)
    }
  }
}

/// A log whose first scans fail, because its brokers do not know the partition.
private struct FailingScans: ForwardingLog {
  let log: InMemoryLog
  let failures: FleetProcess.Shared<Int>

  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    var isFailing = false
    failures.change { left in
      isFailing = left > 0
      left = max(0, left - 1)
    }
    if isFailing {
      throw KafkaError(
        code: KafkaError.Code(rawValue: -190), operation: "scan \(partition)", reason: "unknown partition")
    }
    return try await log.scan(partition, from: start, to: end, upTo: limit, body)
  }
}

/// A log without topics.
private struct WithoutTopics: ForwardingLog {
  let log: InMemoryLog

  func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] { [:] }
}

/// A log whose brokers know no topic for a while, and do not answer questions about offsets.
private struct Restarting: ForwardingLog {
  let log: InMemoryLog
  let isAway: FleetProcess.Shared<Bool>

  func partitionCounts(of topics: [String], timeout: Duration) async throws(KafkaError) -> [String: Int] {
    isAway.get() ? [:] : try await log.partitionCounts(of: topics, timeout: timeout)
  }

  func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    guard !isAway.get() else {
      throw KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)
    }
    return try await log.highWatermarks(of: partitions, timeout: timeout)
  }
}

/// A broker that answers questions about some topics from the time before it was suspended.
private final class FormerLeader: Sendable {
  private let topics: Set<String>
  private let end: Int64
  private let state: Mutex<Int>

  /// - Parameters:
  ///   - end: The high watermark that it knows.
  ///   - answers: The number of questions that it answers before it learns of its successor.
  init(ofTopics topics: [String], end: Int64, answers: Int) {
    (self.topics, self.end) = (Set(topics), end)
    state = Mutex(answers)
  }

  var answersLeft: Int { state.withLock { $0 } }

  /// Returns the high watermark that it reports for a topic, or nil if the leader answers.
  func answer(about topic: String) -> Int64? {
    guard topics.contains(topic) else { return nil }
    return state.withLock { left in
      guard left > 0 else { return nil }
      left -= 1
      return end
    }
  }
}

private struct FormerLeaderLog: ForwardingLog {
  let log: InMemoryLog
  let former: FormerLeader

  func highWatermarks(
    of partitions: [TopicPartition], timeout: Duration
  ) async throws(KafkaError) -> [TopicPartition: Range<Int64>] {
    var ranges = try await log.highWatermarks(of: partitions, timeout: timeout)
    // One answer is about all partitions.
    guard let end = partitions.first.flatMap({ former.answer(about: $0.topic) }) else { return ranges }
    for partition in partitions { ranges[partition] = 0..<end }
    return ranges
  }

  func scan(
    _ partition: TopicPartition, from start: StartOffset, to end: ScanEnd, upTo limit: Int,
    _ body: @Sendable ([ConsumerRecord]) async throws -> Void
  ) async throws -> Int64 {
    var end = end
    if end == .highWatermark, let old = former.answer(about: partition.topic) { end = .offset(old) }
    return try await log.scan(partition, from: start, to: end, upTo: limit, body)
  }
}
