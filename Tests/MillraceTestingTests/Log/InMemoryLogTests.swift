// Tests features that only the in-memory log has: manual time, injected faults, and processes that pause or crash.

import MillraceTime
import KafkaClient
import MillraceRecords
import MillraceTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct InMemoryLogTests {
  private let time = ManualClock()
  private let log: InMemoryLog
  private let partition = TopicPartition(topic: "t", partition: 0)

  init() throws {
    log = InMemoryLog(clock: time.clock)
    try log.createTopic("t", partitions: 2)
  }

  private func member(
    _ process: InMemoryLog, options: LogReaderOptions = LogReaderOptions()
  ) throws -> (GroupMember, Task<Void, any Error>) {
    let reader = try process.makeReader(group: "g", topics: ["t"], options: options)
    return (GroupMember(reader), Task { try await reader.run() })
  }

  @Test func `a record without a timestamp gets the time of the clock`() throws {
    time.advance(by: .seconds(5))
    try log.append(ProducerRecord(topic: "t", partition: 0, value: [1]))
    try log.append(ProducerRecord(topic: "t", partition: 0, value: [1], timestamp: 7))
    #expect(log.records(in: "t").map(\.timestamp) == [1_767_225_605_000, 7])
  }

  @Test func `records without a key rotate over the partitions`() throws {
    let places = try (0..<4).map { _ in try log.append(ProducerRecord(topic: "t", value: [1])).partition }
    #expect(places == [0, 1, 0, 1])
  }

  @Test func `an oversize record is refused and the transaction can commit`() async throws {
    let writer = try log.makeTransactionalWriter(id: "w", timeout: .seconds(10))
    try await writer.initialize(timeout: .seconds(1))
    try await writer.begin()
    let large = ProducerRecord(topic: "t", value: Array(repeating: 0, count: (4 << 20) + 1))
    #expect(await kafkaError { _ = try await writer.send(large) }?.code == .messageTooLarge)
    _ = try await writer.send(ProducerRecord("t", "small"))
    try await writer.commit(timeout: .seconds(1))
    #expect(log.records(in: "t").map(\.text) == ["small"])
  }

  // MARK: - Processes

  @Test func `a process that is paused beyond its session loses its partitions and is fenced`() async throws {
    let zombie = log.process("zombie")
    var (paused, pausedRun) = try member(zombie)
    try await paused.nextAssignment()
    let stale = try await paused.reader.groupMetadata()
    let writer = try zombie.makeTransactionalWriter(id: "zombie", timeout: .seconds(60))
    try await writer.initialize(timeout: .seconds(1))
    try await writer.begin()
    _ = try await writer.send(ProducerRecord("t", "zombie"))

    zombie.pause()
    var (heir, heirRun) = try member(log.process("heir"))
    time.advance(by: .seconds(10))
    #expect(try await heir.nextAssignment().count == 2)

    let reader = paused.reader
    let late = Task { await kafkaError { try await reader.commit([CommittedOffset(partition, offset: 1)]) } }
    zombie.resume()
    #expect([.unknownMember, .illegalGeneration].contains(await late.value?.code))
    let refused = await kafkaError {
      try await writer.sendOffsets([CommittedOffset(partition, offset: 1)], group: stale, timeout: .seconds(1))
    }
    #expect(refused?.transactionRemedy == .abort)
    try await writer.abort(timeout: .seconds(1))
    #expect(log.committedOffsets(of: "g").isEmpty)
    #expect(log.records(in: "t").isEmpty)

    // The paused process learns that it lost its partitions, and joins again.
    guard case .revoked(let revocation) = try await paused.next() else { return #expect(Bool(false), "not revoked") }
    #expect(revocation.isLost)
    #expect(revocation.partitions.count == 2)
    revocation.complete()
    #expect(try await heir.nextAssignment().count == 1)
    #expect(try await paused.nextAssignment().count == 1)
    zombie.crash()
    log.process("heir").crash()
    try await pausedRun.value
    try await heirRun.value
  }

  @Test func `a process that resumes within its session keeps its partitions`() async throws {
    let process = log.process("slow")
    var (member, run) = try member(process)
    try await member.nextAssignment()
    process.pause()
    time.advance(by: .milliseconds(9_999))
    process.resume()
    time.advance(by: .seconds(60))
    try await member.reader.commit([CommittedOffset(partition, offset: 1)])
    #expect(log.committedOffsets(of: "g") == [CommittedOffset(partition, offset: 1)])
    process.crash()
    try await run.value
  }

  @Test func `the session and the transaction of a crashed process time out`() async throws {
    let doomed = log.process("p")
    var (dead, deadRun) = try member(doomed)
    try await dead.nextAssignment()
    let writer = try doomed.makeTransactionalWriter(id: "p", timeout: .seconds(20))
    try await writer.initialize(timeout: .seconds(1))
    try await writer.begin()
    _ = try await writer.send(ProducerRecord("t", "dead"))
    try log.append(ProducerRecord("t", "alive"))
    doomed.crash()
    try await deadRun.value
    #expect(await kafkaError { _ = try await writer.send(ProducerRecord("t", "ghost")) }?.code == .closed)

    let again = log.process("p")
    var (heir, heirRun) = try member(again)
    time.advance(by: .seconds(10))
    #expect(try await heir.nextAssignment().count == 2)
    let queue = try heir.queue(partition)
    async let read = queue.read(1)
    #expect(log.records(in: "t").isEmpty)
    time.advance(by: .seconds(10))
    #expect(try await read.map(\.text) == ["alive"])
    again.crash()
    try await heirRun.value
  }

  @Test func `a reader of a crashed process does not join the group`() async throws {
    let doomed = log.process("p")
    let early = try doomed.makeReader(group: "g", topics: ["t"], options: LogReaderOptions())
    doomed.crash()
    let late = try doomed.makeReader(group: "g", topics: ["t"], options: LogReaderOptions())
    try await early.run()
    try await late.run()
    #expect(log.assignment(of: "g").isEmpty)
  }

  @Test func `a reader that starts in a paused process joins when the process resumes`() async throws {
    let slow = log.process("slow")
    slow.pause()
    let reader = try slow.makeReader(group: "g", topics: ["t"], options: LogReaderOptions())
    var member = GroupMember(reader)
    async let run: Void = reader.run()
    time.advance(by: .seconds(60))
    #expect(log.assignment(of: "g").isEmpty)
    slow.resume()
    #expect(try await member.nextAssignment().count == 2)
    slow.crash()
    try await run
  }

  @Test func `a member that does not complete a revocation in time is removed`() async throws {
    var (slow, slowRun) = try member(log.process("slow"))
    try await slow.nextAssignment()
    var (heir, heirRun) = try member(log.process("heir"))
    guard case .revoked(let revocation) = try await slow.next() else { return #expect(Bool(false), "not revoked") }
    #expect(!revocation.isLost)
    time.advance(by: .seconds(300))
    #expect(try await heir.nextAssignment().count == 2)
    let reader = slow.reader
    let error = await kafkaError { try await reader.commit([CommittedOffset(partition, offset: 1)]) }
    #expect(error?.code == .unknownMember)
    revocation.complete()
    #expect(try await heir.nextAssignment().count == 1)
    #expect(try await slow.nextAssignment().count == 1)
    log.process("slow").crash()
    log.process("heir").crash()
    try await slowRun.value
    try await heirRun.value
  }

  @Test func `a transaction that times out is aborted and its producer is fenced`() async throws {
    let writer = try log.makeTransactionalWriter(id: "w", timeout: .seconds(10))
    try await writer.initialize(timeout: .seconds(1))
    try await writer.begin()
    _ = try await writer.send(ProducerRecord("t", "late"))
    time.advance(by: .seconds(10))
    let error = await kafkaError { try await writer.commit(timeout: .seconds(1)) }
    #expect(error?.transactionRemedy == .replace)
    #expect(log.records(in: "t").isEmpty)
    #expect(log.storedRecords(in: "t").map(\.text) == ["late"])
  }

  // MARK: - Faults

  private let away = KafkaError(code: .timedOut, operation: "test", reason: "away", isRetriable: true)

  @Test func `a refused write is not stored, an unacknowledged one is`() async throws {
    let writer = try log.makeWriter()
    log.fail(.send, with: [away], in: "u")
    log.fail(.send, with: [away])
    #expect(await kafkaError { _ = try await writer.send(ProducerRecord("t", "a")) } == away)
    log.fail(.send, with: [away], reach: .unacknowledged)
    #expect(await kafkaError { _ = try await writer.send(ProducerRecord("t", "b")) } == away)
    _ = try await writer.send(ProducerRecord("t", "c"))
    #expect(log.records(in: "t").map(\.text) == ["b", "c"])
  }

  @Test func `after a failed write a transaction can only abort`() async throws {
    let writer = try log.makeTransactionalWriter(id: "w", timeout: .seconds(10))
    try await writer.initialize(timeout: .seconds(1))
    try await writer.begin()
    log.fail(.send, with: [away])
    #expect(await kafkaError { _ = try await writer.send(ProducerRecord("t", "a")) }?.transactionRemedy == .abort)
    #expect(await kafkaError { try await writer.commit(timeout: .seconds(1)) }?.transactionRemedy == .abort)
    try await writer.abort(timeout: .seconds(1))
    try await writer.begin()
    _ = try await writer.send(ProducerRecord("t", "b"))
    try await writer.commit(timeout: .seconds(1))
    #expect(log.records(in: "t").map(\.text) == ["b"])
  }

  @Test(arguments: [FaultReach.refused, .unacknowledged])
  func `a commit without an answer can be retried and happens once`(_ reach: FaultReach) async throws {
    let writer = try log.makeTransactionalWriter(id: "w", timeout: .seconds(10))
    try await writer.initialize(timeout: .seconds(1))
    try await writer.begin()
    _ = try await writer.send(ProducerRecord("t", "a"))
    log.fail(.commitTransaction, with: [away], reach: reach)
    #expect(await kafkaError { try await writer.commit(timeout: .seconds(1)) }?.transactionRemedy == .retry)
    #expect(log.records(in: "t").count == (reach == .refused ? 0 : 1))
    try await writer.commit(timeout: .seconds(1))
    #expect(log.records(in: "t").map(\.text) == ["a"])
    try await writer.begin()
  }

  @Test func `latency uses the log's clock`() async throws {
    log.setLatency(.seconds(3))
    let writer = try log.makeWriter()
    async let sent = writer.send(ProducerRecord("t", "a"))
    await time.waitForSleepers()
    #expect(log.records(in: "t").isEmpty)
    time.advance(by: .seconds(3))
    #expect(try await sent.offset == 0)
  }

  // MARK: - Retention

  @Test func `a reader whose offset was deleted continues at the oldest record, and a scan fails`() async throws {
    for text in ["a", "b", "c"] { try log.append(ProducerRecord("t", text)) }
    var (member, run) = try member(log)
    try await member.nextAssignment()
    #expect(try await member.read(1, from: partition).map(\.text) == ["a"])
    try log.trim(partition, before: 2)
    #expect(try await member.read(1, from: partition).map(\.text) == ["c"])
    #expect(
      await kafkaError { try await log.scan(partition, from: .offset(0), to: .highWatermark, upTo: 1) { _ in } } != nil)
    member.reader.shutDown()
    await member.finish()
    try await run.value
  }

  @Test func `a new topic is assigned to the groups that subscribe to it`() async throws {
    let reader = try log.makeReader(group: "h", topics: ["t", "later"], options: LogReaderOptions())
    var member = GroupMember(reader)
    let run = Task { try await reader.run() }
    #expect(try await member.nextAssignment().count == 2)
    try log.createTopic("later", partitions: 1)
    #expect(try await member.nextAssignment().count == 3)
    reader.shutDown()
    await member.finish()
    try await run.value
  }
}

extension GroupMember {
  /// Completes revocations until the reader is closed.
  mutating func finish() async {
    while let event = await nextOrEnd() {
      if case .revoked(let revocation) = event { revocation.complete() }
    }
  }
}

extension KafkaError.Code {
  static let illegalGeneration = Self(rawValue: 22)
  static let unknownMember = Self(rawValue: 25)
}
