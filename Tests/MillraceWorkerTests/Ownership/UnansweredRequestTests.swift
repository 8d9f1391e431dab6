// Tests a worker whose producer loses a request or a client before it has told a transaction to commit. A new client takes
// its place: no lane restarts, and no handler runs again.

import AppStoreSigning
import KafkaClient
import MillraceTesting
import MillraceTime
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct UnansweredRequestTests {
  private static func error(_ code: KafkaError.Code, isFatal: Bool = true, requiresAbort: Bool = false) -> KafkaError {
    KafkaError(
      code: code, operation: "test", reason: "test", isRetriable: !isFatal && !requiresAbort,
      requiresAbort: requiresAbort, isFatal: isFatal)
  }

  /// Publishes an event and causes an effect for each notification.
  private func causing(_ book: Book) -> FleetHandler {
    FleetHandler(book) { item, recorder in
      try await FleetHandler.cause("effect/\(item.id)", recorder, in: book)
      return try await FleetHandler.answer(item, recorder)
    }
  }

  private func check(
    _ fleet: WorkerFleet, _ book: Book, _ process: FleetProcess, _ count: Int, _ replacements: [String: Int],
    _ location: SourceLocation = #_sourceLocation
  ) async {
    #expect(await fleet.until { fleet.isRead() } != nil, sourceLocation: location)
    #expect(!process.isOver, "the process ended", sourceLocation: location)
    #expect(fleet.answered().sorted() == (0..<count).map { "n\($0)" }.sorted(), sourceLocation: location)
    #expect(Set(fleet.eventIDs()).count == count, sourceLocation: location)
    #expect(book.calls.count == count && book.calls.values.allSatisfy { $0.count == 1 }, sourceLocation: location)
    #expect((0..<count).allSatisfy { book.runs["n\($0)"] == 1 }, "a handler ran again", sourceLocation: location)
    #expect(fleet.replacements() == replacements && fleet.rejoins().isEmpty, sourceLocation: location)
    // Each client has an epoch of its own, so the brokers refuse late requests of earlier ones.
    if let epoch = fleet.log.epoch(ofTransactionalID: "\(fleet.topics.group).p") {
      #expect(epoch == replacements.values.reduce(0, +), sourceLocation: location)
    }
    await process.crash()
  }

  @Test(arguments: [LogOperation.commitTransaction, .abortTransaction], [FaultReach.refused, .unacknowledged])
  func `after an end of a transaction without an answer a new client takes over`(
    of step: LogOperation, _ reach: FaultReach
  ) async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let process = fleet.start("p", isKept: false, transactionalName: "p", causing(book))
    try fleet.put("n0", key: "k0")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    // Only a transaction that fails is aborted.
    if step == .abortTransaction {
      process.log.fail(.sendOffsets, with: [Self.error(.rebalanceInProgress, isFatal: false, requiresAbort: true)])
    }
    process.log.fail(step, with: [Self.error(.timedOut, isFatal: false)], reach: reach)
    for number in 1..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    await check(fleet, book, process, 10, ["unanswered": 1])
  }

  @Test(arguments: [LogOperation.send, .sendOffsets], [FaultReach.refused, .unacknowledged])
  func `after another request without an answer a new client takes over`(
    _ step: LogOperation, _ reach: FaultReach
  ) async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let process = fleet.start("p", isKept: false, transactionalName: "p", causing(book))
    try fleet.put("n0", key: "k0")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    process.log.fail(
      step, with: [Self.error(.timedOut, isFatal: false, requiresAbort: true)],
      in: step == .send ? fleet.topics.ledger : nil, reach: reach)
    for number in 1..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    await check(fleet, book, process, 10, ["unanswered": 1])
  }

  @Test(arguments: [LogOperation.send, .sendOffsets], [KafkaError.Code.fenced, .inDoubt])
  func `a client that fails before a commit is replaced, and the same outcomes are written again`(
    at step: LogOperation, _ code: KafkaError.Code
  ) async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let process = fleet.start("p", isKept: false, transactionalName: "p", causing(book))
    try fleet.put("n0", key: "k0")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    process.log.fail(step, with: [Self.error(code)], in: step == .send ? fleet.topics.events : nil)
    for number in 1..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    await check(fleet, book, process, 10, [code == .fenced ? "fenced" : "fatal": 1])
  }

  @Test func `a worker whose clients fail again and again rejoins, and ends at last`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    process.log.fail(.sendOffsets, with: Array(repeating: Self.error(.inDoubt), count: 10_000))
    try fleet.put("n0", key: "k")
    let end = try #require(await fleet.end(of: process, within: .seconds(600)), "the worker did not give up")
    #expect((end.error as? KafkaError)?.code == .inDoubt)
    #expect(fleet.rejoins() == ["fatal": RejoinLimit.mostInARow - 1])
    #expect(fleet.answered().isEmpty)
  }

  @Test func `a worker that is stopped while its client is replaced stops gracefully`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    #expect(await fleet.until { process.readiness?.isReady == true } != nil)
    process.log.fail(.sendOffsets, with: [Self.error(.fenced)])
    process.log.fail(.initialize, with: Array(repeating: Self.error(.timedOut, isFatal: false), count: 10_000))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.replacements() == ["fenced": 1] } != nil)
    await process.leave()
    #expect(try #require(await fleet.end(of: process, within: .seconds(60))).error == nil)
  }

  @Test func `a question about the name without a clear answer delays the new client and ends nothing`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let process = fleet.start("p", isKept: false, staticMember: "w-0", causing(book))
    try fleet.put("n0", key: "k0")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    process.log.fail(.describeGroup, with: Array(repeating: Self.error(.groupAuthorizationFailed), count: 10))
    process.log.fail(.sendOffsets, with: [Self.error(.fenced)])
    for number in 1..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    let isEarly = await fleet.until(within: .seconds(1)) { !fleet.replacements().isEmpty }
    #expect(isEarly == nil, "a replacement is counted before it happens")
    await check(fleet, book, process, 10, ["fenced": 1])
  }

  @Test func `the client of an idle worker is replaced at once, not at the next transaction`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    // Without effects, so that one transaction has everything.
    let process = fleet.start("p", isKept: false, transactionalName: "p", FleetHandler(book))
    try fleet.put("n0", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    process.log.fail(.commitTransaction, with: [Self.error(.timedOut, isFatal: false)], reach: .unacknowledged)
    try fleet.put("n1", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0", "n1"] && fleet.isRead() } != nil)
    // No other record comes.
    #expect(await fleet.until(within: .seconds(5)) { fleet.replacements() == ["unanswered": 1] } != nil)
    #expect(!process.isOver && fleet.rejoins().isEmpty)
  }

  @Test func `a lane that is revoked while the client is replaced is handed over within the drain limit`() async throws
  {
    let fleet = try WorkerFleet(lanes: 2) { $0.drainTimeout = .seconds(4) }
    let book = Book()
    let process = fleet.start("p", isKept: false, FleetHandler(book))
    try fleet.put("n0", key: "k0")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    process.log.fail(.sendOffsets, with: [Self.error(.fenced)])
    process.log.fail(.initialize, with: Array(repeating: Self.error(.timedOut, isFatal: false), count: 100))
    for number in 1..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.replacements() == ["fenced": 1] } != nil)
    let other = fleet.start("q", isKept: false, FleetHandler(book))
    let time = await fleet.until { other.readiness == WorkerReadiness(hasJoined: true, owned: 1, isReady: true) }
    #expect(try #require(time) < .seconds(8), "the lane was kept for longer than the drain limit")
    #expect(await fleet.until { fleet.answered().count == 10 && fleet.isRead() } != nil)
    #expect(Set(fleet.answered()).count == 10 && Set(fleet.eventIDs()).count == 10)
    #expect(!process.isOver && !other.isOver && fleet.rejoins().isEmpty)
    for process in [process, other] { await process.crash() }
  }

  @Test func `a process that was replaced under its name does not fence its successor`() async throws {
    let fleet = try WorkerFleet(lanes: 2)
    let book = Book()
    let elder = fleet.start("elder", isKept: false, staticMember: "w-0", causing(book))
    try fleet.put("n0", key: "k0")
    #expect(await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() } != nil)
    elder.log.pause()
    let younger = fleet.start("younger", isKept: false, staticMember: "w-0", causing(book))
    #expect(await fleet.until { younger.readiness?.isReady == true && younger.readiness?.owned == 2 } != nil)
    for number in 1..<5 { try fleet.put("n\(number)", key: "k\(number)") }
    #expect(await fleet.until { fleet.answered().count == 5 && fleet.isRead() } != nil)
    elder.log.resume()
    let end = try #require(await fleet.end(of: elder, within: .seconds(120)), "the older process still runs")
    #expect((end.error as? MillraceError)?.area == .membership, "\(String(describing: end.error))")
    for number in 5..<10 { try fleet.put("n\(number)", key: "k\(number)") }
    await check(fleet, book, younger, 10, [:])
  }
}
