import AppStore
import Foundation
import KafkaClient
import MillraceCore
import MillraceRecords
import MillraceTime
import TestEnvironment
import Testing

@testable import MillraceWorker
@testable import Operations

@Suite struct LaneChangeSurveyTests {
  private typealias Worker = LaneChangeSurvey.Worker

  private func objection(_ change: (inout Worker) -> Void) -> String? {
    var worker = Worker(name: "w", state: .blocked)
    change(&worker)
    return worker.objection
  }

  @Test func `a worker whose old processes ran again is moved again, unless it has run with both topics`() {
    #expect(objection { ($0.isMoved, $0.late) = (true, 3) } == nil)
    let started = objection { ($0.isMoved, $0.late, $0.hasStarted) = (true, 3, true) }
    #expect(started?.contains("wrote 3 records that the new ones do not know") == true)
    #expect(objection { ($0.isMoved, $0.hasStarted, $0.newProcesses) = (true, true, 2) } == nil)
    #expect(objection { ($0.isMoved, $0.late, $0.isTooLate) = (true, 3, true) }?.contains("another prefix") == true)
    let posted = objection { ($0.isMoved, $0.unhandled, $0.hasStarted) = (true, 5, true) }
    #expect(posted?.hasPrefix("5 records reached the old topics after the move") == true)
    let running = objection { ($0.isMoved, $0.oldProcesses, $0.newProcesses) = (true, 1, 1) }
    #expect(running?.hasPrefix("1 process run with the old topics after the move") == true)
    #expect(objection { $0.hasStarted = true }?.contains("already run") == true)
  }

  @Test func `an erasure that is not copied is work, also if every worker is moved`() {
    var survey = LaneChangeSurvey()
    survey.workers = [Worker(name: "w", state: .moved)]
    #expect(!survey.hasWork)
    survey.erasures = 1
    #expect(survey.hasWork)
  }
}

@Suite(
  .enabled(if: RealCluster.isNamed, "needs transactions: set KAFKA_BOOTSTRAP_SERVERS"), .timeLimit(.minutes(15)))
struct LaneChangeTests {
  private static let worker = "winback"
  private let name = SharedCluster.uniqueName()
  private var keyFile: String {
    FileManager.default.temporaryDirectory.appending(path: "\(name)-erasure.key").path
  }

  private func configuration(_ lanes: Int) throws -> MillraceConfiguration {
    var configuration = MillraceConfiguration()
    configuration.kafka.durability = .relaxed
    configuration.topics.directory = Project.path("topics")
    configuration.topics.prefix = "\(name)-\(lanes)."
    configuration.topics.lanes = lanes
    configuration.workers[Self.worker] = WorkerEntry()
    configuration.privacy.keyFile = keyFile
    return configuration
  }

  private func topics(_ lanes: Int) -> WorkerTopics {
    WorkerTopics(worker: Self.worker, inputs: [], delays: WorkerPolicy().retryDelays, prefix: "\(name)-\(lanes).")
  }

  private func ledger(_ lanes: Int, _ entries: [LedgerEntry]) -> [ProducerRecord] {
    entries.map { $0.record(topic: topics(lanes).ledger, lane: 0) }
  }

  /// The timers in the ledger of a deployment.
  private func timers(_ lanes: Int, in log: KafkaLog) async throws -> Set<String> {
    let partitions = (0..<Int32(lanes)).map { TopicPartition(topic: topics(lanes).ledger, partition: $0) }
    let ranges = try await log.highWatermarks(of: partitions, timeout: .seconds(30))
    let found = Found()
    for (partition, range) in ranges where !range.isEmpty {
      try await log.scan(partition, from: .earliest, to: .offset(range.upperBound), upTo: 100) { page in
        for record in page {
          let entry = try LedgerEntry(record)
          guard entry.name.kind == .timer else { continue }
          await found.set("\(record.partition)/\(entry.name.text)", entry.value != nil)
        }
      }
    }
    // Keys may be in several lanes of the new deployment.
    return Set(await found.names.map { String($0.suffix(1)) })
  }

  private actor Found {
    private(set) var names: Set<String> = []
    func set(_ name: String, _ isThere: Bool) {
      if isThere { names.insert(name) } else { names.remove(name) }
    }
  }

  @Test func `a worker whose old processes run after its move is not called moved, and erasures are kept`() async throws
  {
    try "a secret of at least 32 bytes, really\n".write(toFile: keyFile, atomically: true, encoding: .utf8)
    defer { try? FileManager.default.removeItem(atPath: keyFile) }
    let kafka = RealCluster.configuration
    let (old, new) = (try configuration(2), try configuration(4))
    for one in [old, new] {
      let operation = TopicsOperation(kafka, catalog: try TopicCatalog.load(one), durability: .relaxed)
      #expect(try await operation.apply(try await operation.survey()) { _ in } == [])
    }
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
    let change = try await LaneChange(from: old.topics.prefix, to: new, kafka) { _ in }
    func state() async throws -> LaneChangeSurvey.Worker {
      try #require(try await change.survey().workers.first)
    }
    func move() async throws { try await change.carryOut(try await change.survey()) }

    // The old worker has two timers, and has carried out an erasure.
    let key = Array("2000000000000001".utf8)
    let timer = LaneTimer(at: Timestamp(millisecondsSince1970: 1), key: key, payload: [])
    try await log.append(ledger(2, [.timer("a", timer), .timer("b", timer), .owner("w1")]))
    let secret = try #require(try ErasureKey(old.privacy))
    let erasure = OperationCommand(
      id: CommandID.new(), run: "r", item: OperationCommand.erasure(of: secret.mark(of: key), command: "c"),
      worker: Self.worker, lane: 0, action: .erase(customer: try secret.seal(key)), why: "a request", by: "ann",
      at: MillraceClock.system.wallTime)
    let records: [OperationsRecord] = [.command(erasure), .result(OperationResult(erasure, .done, at: erasure.at))]
    try await log.append(records.map { $0.producerRecord(topics(2).operations) })

    #expect(try await state().state == .ready)
    try await move()
    let moved = try await change.survey()
    #expect(moved.workers.map(\.state) == [.moved] && !moved.hasWork && moved.objection == nil)
    #expect(try await timers(4, in: log) == ["a", "b"])
    let marks = try await ErasedCustomers(new, on: log).current()
    #expect(marks.include(key, signed: nil), "an import would write the erased customer again")
    #expect(!marks.include(Array("2000000000000002".utf8), signed: nil))
    // No worker takes the copy for an instruction, and it does not name the customer.
    let copies = try await everything(in: topics(4).operations, log)
    #expect(copies.count == 1)
    var operations = OperationsLog(worker: Self.worker)
    for copy in copies { _ = operations.fold(try #require(OperationsRecord(copy))) }
    #expect(operations.isEmpty)
    if case .command(let copy)? = copies.first.flatMap({ OperationsRecord($0) }) {
      #expect(copy.action == .erase(customer: "") && copy.at == erasure.at)
    } else {
      Issue.record("no command")
    }

    // A process of the old worker that only starts changes nothing; one that runs fires a timer.
    try await log.append(ledger(2, [.owner("w2")]))
    #expect(try await state().state == .moved)
    try await log.append(ledger(2, [.timer("a", nil)]))
    let again = try await state()
    #expect(again.state == .ready && again.late == 1, "the timer would fire twice")
    try await move()
    #expect(try await state().state == .moved)
    #expect(try await timers(4, in: log) == ["b"])

    // After the new worker has run, the rest cannot be copied.
    let group = try KafkaConsumer(kafka, subscription: .group(topics(4).group, topics: []))
    let committed = CommittedOffset(
      TopicPartition(topic: topics(4).replay, partition: 0), offset: 0, metadata: "a crash mark")
    try await ReplayWriter.use(for: "test", prefix: new.topics.prefix, on: log, clock: .system) { writer in
      try await writer.write([], committing: [committed], of: try await group.groupMetadata())
    }
    #expect(try await state().state == .moved)
    try await log.append(ledger(2, [.timer("b", nil)]))
    let both = try await change.survey()
    #expect(both.workers.map(\.state) == [.blocked] && both.workers.map(\.late) == [1])
    #expect(both.objection?.description.contains("ran again after the move") == true)
    await #expect(throws: OperationError.self) { try await change.carryOut(both) }
  }

  @Test func `a move ends with an error if a new process starts before it is complete`() async throws {
    let kafka = RealCluster.configuration
    let (old, new) = (try configuration(2), try configuration(4))
    for one in [old, new] {
      let operation = TopicsOperation(kafka, catalog: try TopicCatalog.load(one), durability: .relaxed)
      #expect(try await operation.apply(try await operation.survey()) { _ in } == [])
    }
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
    try await log.append(ledger(2, [.owner("w1")]))
    let change = try await LaneChange(from: old.topics.prefix, to: new, kafka) { _ in }
    let survey = try await change.survey()
    #expect(survey.objection == nil && survey.hasWork)
    let member = try log.makeReader(
      group: topics(4).group, topics: [topics(4).replay], options: LogReaderOptions(leavesOnShutDown: true))
    let running = Task { try await member.run() }
    for await event in member.events {
      if case .assigned(let partitions) = event, partitions.isEmpty { continue }
      break
    }
    let error = await #expect(throws: OperationError.self) { try await change.carryOut(survey) }
    #expect(error?.what.contains("before the move is complete") == true)
    member.shutDown()
    try await running.value
    #expect(try await change.survey().workers.map(\.isMoved) == [false])
    // The process has written nothing, so the move can begin again.
    try await change.carryOut(try await change.survey())
    #expect(try await change.survey().workers.map(\.state) == [.moved])
  }

  @Test func `records of a worker without offsets are not left behind, and a deleted new topic is noticed`()
    async throws
  {
    let kafka = RealCluster.configuration
    let (old, new) = (try configuration(2), try configuration(4))
    func create(_ one: MillraceConfiguration) async throws {
      let operation = TopicsOperation(kafka, catalog: try TopicCatalog.load(one), durability: .relaxed)
      #expect(try await operation.apply(try await operation.survey()) { _ in } == [])
    }
    for one in [old, new] { try await create(one) }
    let log = try await KafkaLog.connect(kafka, timeout: .seconds(30))
    let topic = "appstore.notifications.refunds"
    try await log.append([ProducerRecord(topic: old.topics.prefix + topic, partition: 1, key: [1], value: [1])])
    // Its code names its families, or the configuration does.
    for inputs in [[:], [Self.worker: [topic]]] {
      let survey = try await LaneChange(from: old.topics.prefix, to: new, kafka, inputs: inputs) { _ in }.survey()
      #expect(survey.workers.map(\.unhandled) == [1] && survey.objection != nil)
    }
    let other = [Self.worker: ["appstore.notifications.purchases"]]
    let change = try await LaneChange(from: old.topics.prefix, to: new, kafka, inputs: other) { _ in }
    #expect(try await change.survey().objection == nil, "it does not read refunds")
    try await log.append(ledger(2, [.owner("w1")]))
    try await change.carryOut(try await change.survey())
    #expect(try await change.survey().workers.map(\.state) == [.moved])
    // With the new topics, Kafka forgets that the move has begun.
    let admin = KafkaAdmin(kafka)
    #expect(try await admin.deleteTopics(withPrefix: new.topics.prefix, timeout: .seconds(60)) > 0)
    // The broker lists deleted topics for a moment, and none of those would be created.
    try await waitUntil(
      try await admin.topicNames(withPrefix: new.topics.prefix, timeout: .seconds(30)).isEmpty)
    try await create(new)
    // It also has the offsets of the old ones for a moment.
    try await waitUntil(try await change.survey().workers.map(\.isRecreated) == [true])
    let survey = try await change.survey()
    #expect(survey.workers.map(\.state) == [.blocked])
    await #expect(throws: OperationError.self) { try await change.carryOut(survey) }
  }

  private func everything(in topic: String, _ log: KafkaLog) async throws -> [ConsumerRecord] {
    let partition = TopicPartition(topic: topic, partition: 0)
    let found = Records()
    try await log.scan(partition, from: .earliest, to: .highWatermark, upTo: 100) { await found.add($0) }
    return await found.all
  }

  private actor Records {
    private(set) var all: [ConsumerRecord] = []
    func add(_ page: [ConsumerRecord]) { all += page }
  }
}
