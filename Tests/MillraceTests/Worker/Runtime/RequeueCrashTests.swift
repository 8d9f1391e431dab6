// A requeue of a dead letter, with the process killed before each call that it makes of the log.

import AppStore
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct RequeueCrashTests {
  private static let item = OperationCommand.deadLetter(lane: 0, offset: 0)

  /// Whether the command comes while the process runs, or is there when it starts.
  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce], [false, true])
  func `whenever the process dies, a dead letter is requeued once and its record handled`(
    commit: KafkaSettings.Commit, comesLater: Bool
  ) async throws {
    var call = 0
    while try await isKilled(before: call, commit, comesLater) { call += 1 }
    // From 18, and 30 with what a process does when it starts.
    #expect(call > 10)
  }

  /// - Returns: whether it came to that call.
  private func isKilled(
    before call: Int, _ commit: KafkaSettings.Commit, _ comesLater: Bool
  ) async throws -> Bool {
    let mill = try Mill(lanes: 1, commit: commit)
    let book = Book()
    let handler = MillHandler(book) { item, journal in
      if item.id == "dead" {
        guard item.isRequeued else { throw PermanentFailure("broken", "not yet mended") }
        try await MillHandler.cause("effect", journal, in: book)
      }
      return try await MillHandler.answer(item, journal)
    }
    for id in ["dead", "n0"] { try mill.put(id, key: "k") }
    let maker = mill.start("maker", handler)
    #expect(await mill.until { mill.dead() == ["dead": "broken"] && mill.isRead() } != nil)
    await maker.leave()
    #expect(try #require(await mill.end(of: maker)).error == nil)

    let log = mill.log.process("p")
    /// The calls before it.
    let spared = MillProcess.Shared(comesLater ? Int.max : call)
    let watch = LogWatch(clock: mill.clock) { number in
      // Not that call alone: it may be made while the test says which one it is.
      if number >= spared.get(), !log.isCrashed { log.crash() }
    }
    if !comesLater { try ask(mill) }
    let process = mill.start("p", isKept: false, watch: watch, handler)
    if comesLater {
      #expect(await mill.until { await process.lanes() == [0] } != nil)
      spared.set(watch.calls + call)
      try ask(mill)
    }
    try #require(await mill.until { log.isCrashed || isDone(mill) } != nil)
    let isKilled = log.isCrashed
    await process.crash()
    let next = mill.start("q", handler)
    try #require(await mill.until(step: .milliseconds(100)) { isDone(mill) } != nil, "call \(call)")
    // Time for what would come a second time.
    await mill.until(within: .seconds(60), step: .seconds(1)) { false }
    try check(mill, book, isKilled, "call \(call)")
    await next.crash()
    return isKilled
  }

  /// An operator's command, and a notification of the same subscription behind it.
  private func ask(_ mill: Mill) throws {
    let command = OperationCommand(
      id: "c", item: Self.item, worker: "mill", lane: 0, action: .requeue, why: "mended", by: "ann",
      at: mill.time.clock.wallTime)
    try mill.log.append(OperationsRecord.command(command).producerRecord(mill.topics.operations))
    try mill.put("n1", key: "k")
  }

  private func isDone(_ mill: Mill) -> Bool {
    Set(mill.answered()) == ["n0", "dead", "n1"] && mill.isRead()
      && mill.operations().standing(of: Self.item)?.isOpen == false
  }

  private func check(_ mill: Mill, _ book: Book, _ isKilled: Bool, _ moment: Comment) throws {
    let results = mill.log.records(in: mill.topics.operations).filter {
      if case .result? = OperationsRecord($0) { true } else { false }
    }
    #expect(results.count == 1, moment)
    #expect(mill.operations().standing(of: Self.item)?.outcome == .done, moment)
    // Without transactions the next process looks for what the last one sent and could not tell of.
    #expect(mill.log.records(in: mill.topics.replay).count == 1, moment)
    #expect(mill.log.records(in: mill.topics.deadLetters).count == 1, moment)
    #expect(Set(mill.eventIDs()).count == 3, moment)
    if mill.commit == .transactional || !isKilled { #expect(mill.answered().count == 3, moment) }
    // It died once, and the run that a crash cut off is no second handling.
    #expect((2...(isKilled ? 3 : 2)).contains(book.runs["dead"] ?? 0), moment)
    #expect(book.calls["effect"]?.count == 1, moment)
    let ledger = try mill.ledger()
    for id in ["dead", "n0", "n1"] {
      guard case .done? = ledger[LedgerKey(id: id)]?.state else { Issue.record("\(moment): \(id)"); continue }
    }
  }
}
