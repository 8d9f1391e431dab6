// Replays as lanes carry them out: what is chosen, at which pace, through crashes, behind live traffic.

import AppStore
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct ReplayTests {
  private func part(_ mill: Mill, to end: Int64, _ change: (inout ReplayPart) -> Void = { _ in }) throws {
    var part = ReplayPart(topic: Mill.live, from: 0, to: end)
    change(&part)
    let command = OperationCommand(
      id: "c", run: "run", item: "c", worker: "mill", lane: 0, action: .replay(part), why: "a test", by: "ann",
      at: mill.time.clock.wallTime)
    try mill.log.append(OperationsRecord.command(command).producerRecord(mill.topics.operations))
  }

  private func say(_ verb: RunControl.Verb, _ mill: Mill) throws {
    let control = RunControl(run: "run", verb, by: "bob", at: mill.time.clock.wallTime)
    try mill.log.append(OperationsRecord.control(control).producerRecord(mill.topics.operations))
  }

  private func result(_ mill: Mill) -> OperationsLog.Standing? {
    mill.operations().standing(of: "c")
  }

  /// Offsets of the records whose copies stand in the replay topic.
  private func copied(_ mill: Mill) -> [Int64] {
    mill.log.records(in: mill.topics.replay).map { Provenance($0).first.offset }
  }

  private func ended(_ mill: Mill) -> [AuditRecord] {
    mill.log.records(in: mill.topics.audit).compactMap { AuditRecord($0) }
  }

  private func fill(_ mill: Mill, _ count: Int) throws {
    for number in 0..<count { try mill.put("n\(number)", key: "k\(number % 7)", app: number % 3 == 0 ? "a" : "b") }
  }

  @Test func `only what is chosen is sent, marked as sent again, and the end is in the audit trail`() async throws {
    let mill = try Mill(lanes: 1)
    try fill(mill, 60)
    let book = Book()
    let process = mill.start("p", MillHandler(book))
    #expect(await mill.until { mill.answered().count == 60 } != nil)
    try part(mill, to: 50) { part in
      part.isReapply = true
      part.selection.apps = ["a"]
    }
    #expect(await mill.until { result(mill)?.outcome == .done && mill.isRead() } != nil)
    let chosen = (0..<50 as Range<Int64>).filter { $0 % 3 == 0 }
    #expect(copied(mill) == chosen && result(mill)?.sent == Int64(chosen.count))
    for copy in mill.log.records(in: mill.topics.replay) {
      #expect(Mill.header("ce_origin", of: copy) == "replay" && Mill.header("ce_replayid", of: copy) == "run")
      #expect(copy.headers.filter { $0.name == "ce_origin" }.count == 1)
    }
    #expect(mill.answered().count == 60, "reapplied, the same outcome says nothing new")
    #expect(book.runs["n0"] == 2 && book.runs["n1"] == 1)
    let end = try #require(ended(mill).first)
    #expect(ended(mill).count == 1 && end.run == "run" && end.by == "ann" && end.action == .reapply)
    #expect(
      end.phase == .ended(part: "\(Mill.live)/0", result: .done, counts: [.init("sent", Int64(chosen.count))]))
    await process.crash()
  }

  @Test func `reapplied, the same outcome fires no timer twice, whether it has fired or is to come`() async throws {
    let mill = try Mill(lanes: 1)
    try mill.put("n1", key: "k")
    let (book, clock) = (Book(), mill.time.clock)
    let (soon, late) = (clock.wallTime + .seconds(1), clock.wallTime + .seconds(100))
    var handler = MillHandler(book) { _, _ in .ignore.settingTimer("soon", at: soon).settingTimer("late", at: late) }
    handler.fired = { timer, _ in try .emit(MillHandler.Answer(id: timer.name)) }
    let process = mill.start("p", handler)
    #expect(await mill.until { mill.eventIDs().count == 1 && mill.isRead() } != nil)
    try part(mill, to: 1) { $0.isReapply = true }
    #expect(await mill.until { result(mill)?.outcome == .done && book.runs["n1"] == 2 && mill.isRead() } != nil)
    await mill.until(within: .seconds(60)) { false }
    #expect(book.runs["soon"] == 1 && mill.eventIDs().count == 1)
    #expect(await mill.until { mill.eventIDs().count == 2 } != nil)
    await mill.until(within: .seconds(60)) { false }
    #expect(book.runs["soon"] == 1 && book.runs["late"] == 1 && mill.eventIDs().count == 2)
    await process.crash()
  }

  @Test func `reapplied, a timer that a try set which failed fires no second time`() async throws {
    let mill = try Mill(lanes: 1)
    try mill.put("n1", key: "k")
    let (book, clock) = (Book(), mill.time.clock)
    let soon = clock.wallTime + .seconds(1)
    var handler = MillHandler(book) { item, _ in
      item.attempt > 0 ? .ignore : .retry(after: .seconds(2), because: "not yet").settingTimer("soon", at: soon)
    }
    handler.fired = { timer, _ in try .emit(MillHandler.Answer(id: timer.name)) }
    let process = mill.start("p", handler)
    #expect(await mill.until { book.runs["n1"] == 2 && mill.eventIDs().count == 1 && mill.isRead() } != nil)
    try part(mill, to: 1) { $0.isReapply = true }
    #expect(await mill.until { book.runs["n1"] == 4 && mill.isRead() } != nil)
    await mill.until(within: .seconds(60)) { false }
    #expect(book.runs["soon"] == 1 && mill.eventIDs().count == 1)
    await process.crash()
  }

  @Test func `a run waits, goes on and ends on an operator's word, and others do not wait for it`() async throws {
    let mill = try Mill(lanes: 1)
    try fill(mill, 100)
    let process = mill.start("p", MillHandler(Book()))
    #expect(await mill.until { mill.answered().count == 100 } != nil)
    try part(mill, to: 100) { $0.rate = 10 }
    #expect(await mill.until { copied(mill).count >= 20 } != nil)
    #expect(copied(mill).count < 60, "faster than its rate")
    try say(.pause, mill)
    // Once nothing more comes for longer than the rate allows, it waits.
    var (before, quiet) = (-1, 0)
    #expect(
      await mill.until(step: .milliseconds(500)) {
        let count = copied(mill).count
        quiet = count == before ? quiet + 1 : 0
        before = count
        return quiet == 20
      } != nil)
    #expect(before < 100 && result(mill)?.isOpen == true)
    // A dead letter of the lane is settled meanwhile.
    let discard = OperationCommand(
      id: "d", item: OperationCommand.deadLetter(lane: 0, offset: 0), worker: "mill", lane: 0, action: .discard,
      why: "",
      by: "", at: mill.time.clock.wallTime)
    try mill.log.append(OperationsRecord.command(discard).producerRecord(mill.topics.operations))
    #expect(
      await mill.until {
        mill.log.records(in: mill.topics.operations).contains {
          if case .result(let result)? = OperationsRecord($0) { result.command == "d" } else { false }
        }
      } != nil)
    try say(.resume, mill)
    #expect(await mill.until { copied(mill).count > before } != nil)
    try say(.stop, mill)
    #expect(await mill.until { result(mill)?.isOpen == false } != nil)
    guard case .stopped(let next)? = result(mill)?.outcome else {
      Issue.record("\(String(describing: result(mill)))")
      return
    }
    #expect(copied(mill) == Array(0..<next) && next < 100)
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce], 0..<12)
  func `whenever the process dies, every record is sent and handled once`(
    commit: KafkaSettings.Commit, moment: Int
  ) async throws {
    let mill = try Mill(lanes: 1, commit: commit)
    mill.log.setLatency(.milliseconds(3))
    let book = Book()
    for number in 0..<450 { try mill.put("n\(number)", key: "k\(number % 50)") }
    // Nothing was handled before: a copy that is handled twice would answer twice.
    try part(mill, to: 450) { $0.selection.apps = ["com.example.a"] }
    let first = mill.start("p", isKept: false, MillHandler(book))
    _ = await mill.until(within: .milliseconds(40 + 25 * moment), step: .milliseconds(1)) { false }
    await first.crash()
    let second = mill.start("q", MillHandler(book))
    #expect(await mill.until { result(mill)?.outcome == .done && mill.isRead() } != nil)
    let copies = copied(mill)
    #expect(Set(copies) == Set(0..<450), "moment \(moment)")
    #expect(copies.count == 450, "moment \(moment): sent twice")
    // Without transactions an event may be published again after a crash, under the id it had.
    #expect(Set(mill.eventIDs()).count == 450)
    if commit == .transactional { #expect(mill.answered().count == 450) }
    await second.crash()
  }

  @Test func `live records are handled before a backlog of replayed ones`() async throws {
    let mill = try Mill(lanes: 1) { $0.parallelism = 1 }
    try fill(mill, 400)
    let book = Book()
    let process = mill.start(
      "p",
      MillHandler(book) { item, journal in
        if item.source == .replay {
          try await mill.time.clock.sleep(until: mill.time.clock.now.advanced(by: .seconds(1)))
        }
        return try await MillHandler.answer(item, journal)
      })
    #expect(await mill.until { mill.answered().count == 400 } != nil)
    try part(mill, to: 400) { $0.isReapply = true }
    #expect(await mill.until { copied(mill).count == 400 && (book.runs["n3"] ?? 0) > 1 } != nil)
    for number in 0..<30 { try mill.put("live\(number)", key: "live\(number)") }
    // One replayed record is with its handler; no other passes the thirty.
    let wait = await mill.until { mill.answered().count == 430 }
    #expect(try #require(wait) < .seconds(10), "live traffic waited behind a replay")
    #expect(!mill.isRead(), "the replay was over before anybody could tell")
    await process.crash()
  }

  @Test func `what retention took is said, also where it happens meanwhile`() async throws {
    let mill = try Mill(lanes: 1)
    try fill(mill, 40)
    let process = mill.start("p", MillHandler(Book()))
    #expect(await mill.until { mill.isRead() } != nil)
    try part(mill, to: 40) { $0.rate = 5 }
    #expect(await mill.until { copied(mill).count >= 5 } != nil)
    try say(.pause, mill)
    _ = await mill.until(within: .seconds(5), step: .milliseconds(100)) { false }
    try mill.log.trim(TopicPartition(topic: Mill.live, partition: 0), before: 38)
    try say(.resume, mill)
    #expect(await mill.until { result(mill)?.isOpen == false } != nil)
    guard case .failed(let why)? = result(mill)?.outcome else {
      Issue.record("\(String(describing: result(mill)))")
      return
    }
    #expect(why.contains("the oldest is 38"), "\(why)")
    await process.crash()
  }
}
