// Tests a requeue of a dead letter with a crash before each call of the process to the log.

import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct RequeueCrashTests {
  private static let item = OperationCommand.deadLetter(lane: 0, offset: 0)

  /// `comesLater`: Whether the command arrives while the process runs, or before it starts.
  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce], [false, true])
  func `a dead letter is requeued once and handled, whenever the process crashes`(
    commit: KafkaSettings.Commit, comesLater: Bool
  ) async throws {
    var call = 0
    while try await isKilled(before: call, commit, comesLater) { call += 1 }
    // A requeue makes at least 18 calls, 30 with the start of the process.
    #expect(call > 10)
  }

  /// - Returns: Whether the process reached that call.
  private func isKilled(
    before call: Int, _ commit: KafkaSettings.Commit, _ comesLater: Bool
  ) async throws -> Bool {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    let book = Book()
    let handler = FleetHandler(book) { item, recorder in
      if item.id == "dead" {
        guard item.isRequeued else { throw HandlerError("broken", "not yet mended") }
        try await FleetHandler.cause("effect", recorder, in: book)
      }
      return try await FleetHandler.answer(item, recorder)
    }
    for id in ["dead", "n0"] { try fleet.put(id, key: "k") }
    let maker = fleet.start("maker", handler)
    #expect(await fleet.until { fleet.dead() == ["dead": "broken"] && fleet.isRead() } != nil)
    await maker.leave()
    #expect(try #require(await fleet.end(of: maker)).error == nil)

    let log = fleet.log.process("p")
    /// The number of calls before the crash.
    let spared = FleetProcess.Shared(comesLater ? Int.max : call)
    let watch = LogWatch(clock: fleet.clock) { number in
      // Not only that call, because the process may make it while the test sets the number.
      if number >= spared.get(), !log.isCrashed { log.crash() }
    }
    if !comesLater { try ask(fleet) }
    let process = fleet.start("p", isKept: false, watch: watch, handler)
    if comesLater {
      #expect(await fleet.until { await process.lanes() == [0] } != nil)
      spared.set(watch.calls + call)
      try ask(fleet)
    }
    try #require(await fleet.until { log.isCrashed || isDone(fleet) } != nil)
    let isKilled = log.isCrashed
    await process.crash()
    let next = fleet.start("q", handler)
    try #require(await fleet.until(step: .milliseconds(100)) { isDone(fleet) } != nil, "call \(call)")
    // Waits for events that would be repeated.
    await fleet.until(within: .seconds(60), step: .seconds(1)) { false }
    try check(fleet, book, isKilled, "call \(call)")
    await next.crash()
    return isKilled
  }

  /// Writes the operator's command, then a notification of the same subscription.
  private func ask(_ fleet: WorkerFleet) throws {
    let command = OperationCommand(
      id: "c", item: Self.item, worker: "mill", lane: 0, action: .requeue, why: "mended", by: "ann",
      at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(command).producerRecord(fleet.topics.operations))
    try fleet.put("n1", key: "k")
  }

  private func isDone(_ fleet: WorkerFleet) -> Bool {
    Set(fleet.answered()) == ["n0", "dead", "n1"] && fleet.isRead()
      && fleet.operations().status(of: Self.item)?.isOpen == false
  }

  private func check(_ fleet: WorkerFleet, _ book: Book, _ isKilled: Bool, _ moment: Comment) throws {
    let results = fleet.log.records(in: fleet.topics.operations).filter {
      if case .result? = OperationsRecord($0) { true } else { false }
    }
    #expect(results.count == 1, moment)
    #expect(fleet.operations().status(of: Self.item)?.outcome == .done, moment)
    // Without transactions the next process looks for a copy that the last process sent without writing a result.
    #expect(fleet.log.records(in: fleet.topics.replay).count == 1, moment)
    #expect(fleet.log.records(in: fleet.topics.deadLetters).count == 1, moment)
    #expect(Set(fleet.eventIDs()).count == 3, moment)
    if fleet.commit == .transactional || !isKilled { #expect(fleet.answered().count == 3, moment) }
    // The record failed once. A crash or a lost transaction may have interrupted further runs.
    let interrupted = (isKilled ? 1 : 0) + fleet.rejoins().values.reduce(0, +)
    #expect((2...2 + interrupted).contains(book.runs["dead"] ?? 0), moment)
    #expect(book.calls["effect"]?.count == 1, moment)
    let ledger = try fleet.ledger()
    for id in ["dead", "n0", "n1"] {
      guard case .done? = ledger[LedgerKey(id: id)]?.state else { Issue.record("\(moment): \(id)"); continue }
    }
  }
}
