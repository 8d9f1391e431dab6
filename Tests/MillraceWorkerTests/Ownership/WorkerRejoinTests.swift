// Tests a worker that loses its transactional producer. It rejoins in the same process, and does not write outcomes
// again that may be in Kafka.

import AppStoreSigning
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct WorkerRejoinTests {
  private static func error(_ code: KafkaError.Code, isFatal: Bool = true, requiresAbort: Bool = false) -> KafkaError {
    KafkaError(code: code, operation: "test", reason: "test", requiresAbort: requiresAbort, isFatal: isFatal)
  }

  /// Publishes an event and causes an effect for each notification.
  private func causing(_ book: Book) -> FleetHandler {
    FleetHandler(book) { item, recorder in
      try await FleetHandler.cause("effect/\(item.id)", recorder, in: book)
      return try await FleetHandler.answer(item, recorder)
    }
  }

  @Test func `a process whose producer is fenced in a commit rejoins and handles its records once`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let process = fleet.start("p", isKept: false, causing(book))
    try fleet.put("n0", key: "k0")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    process.log.fail(.commitTransaction, with: [Self.error(.fenced)])
    for number in 1..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.isRead() } != nil)
    #expect(!process.isOver, "the process ended")
    #expect(fleet.answered().sorted() == (0..<10).map { "n\($0)" })
    #expect(Set(fleet.eventIDs()).count == 10)
    #expect(book.calls.count == 10 && book.calls.values.allSatisfy { $0.count == 1 })
    #expect(fleet.rejoins() == ["fenced": 1])
    #expect(await fleet.until { process.readiness == WorkerReadiness(hasJoined: true, owned: 2, isReady: true) } != nil)
    await process.crash()
  }

  @Test(arguments: [FaultReach.unacknowledged, .refused])
  func `a commit with a lost answer and a refused abort is written once, applied or not`(
    reach: FaultReach
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    let process = fleet.start("p", isKept: false, FleetHandler(book))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    let unanswered = Self.error(.timedOut, isFatal: false, requiresAbort: true)
    process.log.fail(.commitTransaction, with: [unanswered], reach: reach)
    if reach == .refused { process.log.fail(.abortTransaction, with: [Self.error(.invalidTransactionState)]) }
    try fleet.put("n1", key: "k")
    try fleet.put("n2", key: "k")
    // Applied outcomes are visible before the worker knows that it must rejoin.
    #expect(await fleet.until { fleet.answered().count >= 3 && fleet.isRead() && !fleet.rejoins().isEmpty } != nil)
    #expect(!process.isOver, "the process ended")
    #expect(fleet.answered() == ["n0", "n1", "n2"])
    // The offsets and the ledger have the applied outcomes, so only others are handled again.
    #expect(book.runs["n1"] == (reach == .unacknowledged ? 1 : 2))
    #expect(fleet.rejoins() == ["unclear-commit": 1])
    await process.crash()
  }

  @Test func `an abort that fails because a broker is down makes the process rejoin`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    process.log.fail(.sendOffsets, with: [Self.error(.timedOut, isFatal: false, requiresAbort: true)])
    process.log.fail(.abortTransaction, with: [Self.error(.invalidTransactionState)])
    try fleet.put("n1", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0", "n1"] && fleet.isRead() } != nil)
    #expect(!process.isOver && fleet.rejoins() == ["unclear-commit": 1])
    await process.crash()
  }

  @Test func `a worker that loses every producer ends with the error`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    process.log.fail(.commitTransaction, with: Array(repeating: Self.error(.fenced), count: 100))
    try fleet.put("n0", key: "k")
    let end = try #require(await fleet.end(of: process, within: .seconds(300)), "the worker did not give up")
    #expect((end.error as? KafkaError)?.code == .fenced)
    #expect(ExitStatus(try #require(end.error)) == .software)
    #expect(fleet.rejoins() == ["fenced": RejoinLimit.mostInARow - 1])
    #expect(fleet.answered().isEmpty)
  }

  @Test func `a static member that loses its producer rejoins at once, and keeps its lanes`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let members = ["w-0", "w-1"].map { fleet.start($0, isKept: false, staticMember: $0, FleetHandler(Book())) }
    let each = WorkerReadiness(hasJoined: true, owned: 1, isReady: true)
    #expect(await fleet.until { members.allSatisfy { $0.readiness == each } } != nil)
    members[0].log.fail(.commitTransaction, with: [Self.error(.fenced)])
    for number in 0..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    #expect(await fleet.until { members[0].readiness?.rejoinReason == "fenced" } != nil)
    var isQuiet = true
    let time = await fleet.until {
      isQuiet = isQuiet && members[1].readiness == each
      return members[0].readiness == each
    }
    // The session of the former member takes longer.
    #expect(try #require(time) < .seconds(5))
    #expect(isQuiet, "the other process took the lane over")
    #expect(await fleet.until { fleet.answered().count == 10 && fleet.isRead() } != nil)
    for process in members { await process.crash() }
  }

  @Test func `the reader of a former membership is released, with the connections of its client`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let released = FleetProcess.Shared(0)
    let process = FleetProcess(log: fleet.log.process("p"), isKept: false) { log in
      fleet.runtime(on: CountingReaders(log: log, released: released), FleetHandler(Book()))
    }
    #expect(await fleet.until { process.readiness?.isReady == true } != nil)
    process.log.fail(.commitTransaction, with: [Self.error(.fenced)])
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    #expect(fleet.rejoins() == ["fenced": 1])
    #expect(await fleet.until(within: .seconds(10)) { released.get() > 0 } != nil)
    #expect(released.get() == 1 && !process.isOver)
    await process.crash()
  }

  @Test func `the readiness of a worker reports a rejoin`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    #expect(await fleet.until { process.readiness?.isReady == true } != nil)
    process.log.fail(.commitTransaction, with: [Self.error(.fenced)])
    try fleet.put("n0", key: "k")
    #expect(await fleet.until(step: .milliseconds(5)) { process.readiness?.rejoinReason == "fenced" } != nil)
    #expect(process.readiness?.isReady == false)
    #expect(await fleet.until { process.readiness?.isReady == true } != nil)
    #expect(await fleet.until { fleet.answered() == ["n0"] } != nil)
    await process.crash()
  }

  @Test func `a worker that is stopped during a rejoin stops gracefully`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    process.log.fail(.commitTransaction, with: Array(repeating: Self.error(.fenced), count: 4))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.rejoins() == ["fenced": 4] } != nil)
    await process.leave()
    #expect(try #require(await fleet.end(of: process, within: .seconds(60))).error == nil)
  }

  // MARK: - Two processes with one name

  @Test func `the older of two processes with one name exits with its own status`()
    async throws
  {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let elder = fleet.start("elder", isKept: false, staticMember: "w-0", causing(book))
    for number in 0..<10 { try fleet.put("a\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.answered().count == 10 && fleet.isRead() } != nil)
    let younger = fleet.start("younger", isKept: false, staticMember: "w-0", causing(book))
    for number in 0..<10 { try fleet.put("b\(number)", key: "k\(number)") }
    let end = try #require(await fleet.end(of: elder, within: .seconds(60)), "the older process still runs")
    let error = try #require(end.error as? MillraceError)
    #expect(error.area == .membership && ExitStatus(error).rawValue == 76, "\(error)")
    for number in 0..<10 { try fleet.put("c\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.answered().count >= 30 && fleet.isRead() } != nil)
    #expect(!younger.isOver)
    #expect(fleet.answered().count == 30 && Set(fleet.eventIDs()).count == 30)
    #expect(book.calls.count == 30 && book.calls.values.allSatisfy { $0.count == 1 })
    await younger.crash()
  }

  @Test(arguments: [Duration.seconds(3), .seconds(60)])
  func `a paused process that was replaced under its name exits without fencing its successor`(
    pause: Duration
  ) async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let hung = FleetProcess.Shared(true)
    let handler = FleetHandler(book) { item, recorder in
      try await FleetHandler.cause("effect/\(item.id)", recorder, in: book)
      // The zombie is running a record that its successor also handles.
      while item.id == "work", hung.get() { await Task.yield() }
      return try await FleetHandler.answer(item, recorder)
    }
    let zombie = fleet.start("zombie", isKept: false, staticMember: "w-0", handler)
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    try fleet.put("work", key: "k")
    #expect(await fleet.until { book.runs["work"] == 1 } != nil)
    await fleet.pause(zombie)
    await fleet.pass(pause)
    let successor = fleet.start("successor", isKept: false, staticMember: "w-0", handler)
    #expect(await fleet.until { book.runs["work"] == 2 } != nil)
    hung.set(false)
    #expect(await fleet.until { fleet.answered() == ["n0", "work"] && fleet.isRead() } != nil)
    zombie.log.resume()
    let end = try #require(await fleet.end(of: zombie, within: .seconds(120)), "the zombie still runs")
    #expect((end.error as? MillraceError)?.area == .membership, "\(String(describing: end.error))")
    for number in 1..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.answered().count >= 11 && fleet.isRead() } != nil)
    #expect(!successor.isOver && fleet.rejoins().isEmpty, "the successor was fenced: \(fleet.rejoins())")
    #expect(fleet.answered().count == 11 && book.calls.values.allSatisfy { $0.count == 1 })
    await successor.crash()
  }

  @Test(arguments: ["w-0", nil])
  func `a paused process that was not replaced rejoins`(staticMember: String?) async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let process = fleet.start("p", isKept: false, staticMember: staticMember, causing(book))
    for number in 0..<5 { try fleet.put("a\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.answered().count == 5 && fleet.isRead() } != nil)
    await fleet.pause(process)
    for number in 0..<5 { try fleet.put("b\(number)", key: "k\(number)") }
    await fleet.pass(.seconds(90))
    process.log.resume()
    #expect(await fleet.until { fleet.answered().count >= 10 && fleet.isRead() } != nil)
    #expect(!process.isOver)
    #expect(fleet.answered().count == 10 && book.calls.values.allSatisfy { $0.count == 1 })
    await process.crash()
  }

  @Test func `two processes with one transactional ID and no static name still handle each record once`() async throws {
    let fleet = try WorkerFleet(lanes: 4)
    let book = Book()
    // Without a static name, only producer fencing separates the two processes.
    let processes = ["a", "b"].map { fleet.start($0, transactionalName: "same", causing(book)) }
    for number in 0..<20 { try fleet.put("n\(number)", key: "k\(number)") }
    #expect(await fleet.until(within: .seconds(3_000)) { fleet.answered().count >= 20 && fleet.isRead() } != nil)
    #expect(fleet.answered().count == 20 && Set(fleet.eventIDs()).count == 20)
    #expect(book.calls.values.allSatisfy { $0.count == 1 })
    for process in processes { await process.crash() }
  }

  // MARK: - Fenced without another process

  @Test func `a process that its own former member fences rejoins, however often`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let process = fleet.start("p", isKept: false, staticMember: "w-0", causing(book))
    // More often than a worker may lose its producer.
    for number in 0..<RejoinLimit.most + 5 {
      try fleet.put("n\(number)", key: "k\(number)")
      #expect(await fleet.until { fleet.answered().count == number + 1 && fleet.isRead() } != nil)
      process.log.fenceMembers()
      #expect(await fleet.until { fleet.rejoins()["fenced-instance"] == number + 1 } != nil)
    }
    try fleet.put("last", key: "k")
    #expect(await fleet.until { fleet.answered().last == "last" && fleet.isRead() } != nil)
    #expect(!process.isOver, "the process ended")
    #expect(await fleet.until { process.readiness == WorkerReadiness(hasJoined: true, owned: 2, isReady: true) } != nil)
    #expect(Set(fleet.eventIDs()).count == RejoinLimit.most + 6)
    #expect(book.calls.values.allSatisfy { $0.count == 1 })
    await process.crash()
  }

  @Test(arguments: [KafkaError.Code.timedOut, .groupAuthorizationFailed])
  func `a fenced process asks until the coordinator answers`(code: KafkaError.Code) async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let process = fleet.start("p", isKept: false, staticMember: "w-0", FleetHandler(Book()))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    let unanswered = KafkaError(
      code: code, operation: "test", reason: "test", isRetriable: code == .timedOut)
    process.log.fail(.describeGroup, with: Array(repeating: unanswered, count: 100))
    process.log.fenceMembers()
    try fleet.put("n1", key: "k")
    #expect(await fleet.until { process.readiness?.rejoinReason == "name-unclear" } != nil)
    await fleet.pass(.seconds(300))
    #expect(!process.isOver && process.readiness?.isReady == false && fleet.answered() == ["n0"])
    #expect(await fleet.until { fleet.answered() == ["n0", "n1"] && fleet.isRead() } != nil)
    #expect(await fleet.until { process.readiness == WorkerReadiness(hasJoined: true, owned: 2, isReady: true) } != nil)
    await process.crash()
  }

  @Test func `a process that waits to learn who has its name stops gracefully`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let process = fleet.start("p", isKept: false, staticMember: "w-0", FleetHandler(Book()))
    #expect(await fleet.until { process.readiness?.isReady == true } != nil)
    process.log.fail(.describeGroup, with: Array(repeating: Self.error(.timedOut, isFatal: false), count: 10_000))
    process.log.fenceMembers()
    #expect(await fleet.until { process.readiness?.rejoinReason == "name-unclear" } != nil)
    await process.leave()
    #expect(try #require(await fleet.end(of: process, within: .seconds(1)), "it did not stop").error == nil)
  }

  @Test func `a process that the late JoinGroup of a dead process fences rejoins after its session`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let process = fleet.start("p", isKept: false, staticMember: "w-0", causing(book))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    let dead = fleet.start("dead", isKept: false, staticMember: "w-0", causing(book))
    #expect(await fleet.until { process.readiness?.rejoinReason != nil } != nil)
    await dead.crash()
    try fleet.put("n1", key: "k")
    // The log's session is 10 s.
    let time = try #require(await fleet.until { fleet.answered() == ["n0", "n1"] && fleet.isRead() })
    #expect(time < .seconds(20), "\(time)")
    #expect(!process.isOver && fleet.rejoins() == ["fenced-instance": 1])
    await process.crash()
  }

  // MARK: - Random faults

  @Test(arguments: UInt64(0)..<12)
  func `after any loss of a producer no process ends and each record is handled once`(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let fleet = try WorkerFleet(lanes: 4) { policy in
      policy.recordsInFlight = 8
      policy.drainTimeout = .seconds(4)
    }
    let book = Book()
    let ids = (0..<90).map { "n\($0)" }
    let isStatic = Bool.random(using: &random)
    let processes = (0..<3).map {
      fleet.start("p\($0)", isKept: false, staticMember: isStatic ? "w-\($0)" : nil, causing(book))
    }
    for round in 0..<15 {
      // Every lane has records when the fault occurs.
      for number in round * 6..<(round + 1) * 6 { try fleet.put(ids[number], key: "k\(number % 17)") }
      let log = processes[Int.random(in: processes.indices, using: &random)].log
      var unanswered = Self.error(.timedOut, isFatal: false, requiresAbort: true)
      // For the writer without transactions, which writes when a lane starts.
      unanswered.isRetriable = true
      switch Int.random(in: 0..<6, using: &random) {
      case 0: log.fail(.commitTransaction, with: [unanswered], reach: .unacknowledged)
      case 1: log.fail(.commitTransaction, with: [unanswered])
      case 2: log.fail(.sendOffsets, with: [Self.error(.fenced)])
      case 3: log.fail(.commitTransaction, with: [Self.error(.fenced)], reach: .unacknowledged)
      case 4:
        log.fail(.send, with: [unanswered], reach: .unacknowledged)
        log.fail(.abortTransaction, with: [Self.error(.invalidTransactionState)])
      default:
        log.pause()
        fleet.time.advance(by: .milliseconds(Int64.random(in: 1...3_000, using: &random)))
        log.resume()
      }
      await fleet.until(within: .milliseconds(Int64.random(in: 20...2_000, using: &random))) { false }
    }
    let isDone = await fleet.until { Set(fleet.answered()).isSuperset(of: ids) && fleet.isRead() }
    #expect(isDone != nil, "seed \(seed)")
    #expect(processes.allSatisfy { !$0.isOver }, "seed \(seed): a process ended")
    #expect(!fleet.rejoins().isEmpty, "seed \(seed)")
    for process in processes { await process.crash() }
    #expect(fleet.answered().sorted() == ids.sorted(), "seed \(seed)")
    #expect(book.calls.count == ids.count && book.calls.values.allSatisfy { $0.count == 1 }, "seed \(seed)")
  }
}

/// A log that counts the readers that were released.
private struct CountingReaders: ForwardingLog {
  let log: InMemoryLog
  let released: FleetProcess.Shared<Int>

  func makeReader(
    group: String, topics: [String], options: LogReaderOptions
  ) throws(KafkaError) -> any LogReader {
    CountedReader(base: try log.makeReader(group: group, topics: topics, options: options), released: released)
  }
}

private final class CountedReader: LogReader {
  private let base: any LogReader
  private let released: FleetProcess.Shared<Int>

  init(base: any LogReader, released: FleetProcess.Shared<Int>) { (self.base, self.released) = (base, released) }

  deinit { released.change { $0 += 1 } }

  var events: any AsyncSequence<LogReaderEvent, Never> & Sendable { base.events }
  var sinceLastTurn: Duration? { base.sinceLastTurn }
  var sessionTimeout: Duration { base.sessionTimeout }

  func run() async throws(KafkaError) { try await base.run() }
  func shutDown() { base.shutDown() }
  func commit(_ offsets: [CommittedOffset]) async throws(KafkaError) { try await base.commit(offsets) }

  func committed(_ partitions: [TopicPartition], timeout: Duration) async throws(KafkaError) -> [CommittedOffset] {
    try await base.committed(partitions, timeout: timeout)
  }

  func groupMetadata() async throws(KafkaError) -> GroupMetadata { try await base.groupMetadata() }

  func instanceHolder(timeout: Duration) async throws(KafkaError) -> InstanceHolder {
    try await base.instanceHolder(timeout: timeout)
  }
}
