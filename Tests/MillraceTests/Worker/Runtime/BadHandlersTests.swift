// Handlers and records that misbehave: each has a test that says what happens, and that the others are served.

import AppStore
import Clocks
import Kafka
import MillraceTesting
import Synchronization
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct BadHandlersTests {
  @Test func `a handler that hangs and ignores its cancellation is left behind, and its effect is free again`()
    async throws
  {
    let mill = try Mill(lanes: 1)
    let book = Book()
    let hung = MillProcess.Shared<CheckedContinuation<Void, Never>?>(nil)
    let handler = MillHandler(book) { item, journal in
      if item.id == "bad", item.provenance.attempt == 0 {
        _ = try await journal.begin("effect", body: [1])
        await withCheckedContinuation { hung.set($0) }
        // What is left behind begins nothing any more.
        await #expect(throws: CancellationError.self) { _ = try await journal.begin("another", body: [1]) }
        return .ignore
      }
      if item.id == "bad" { try await MillHandler.cause("effect", journal, in: book) }
      return try await MillHandler.answer(item, journal)
    }
    let process = mill.start("p", handler)
    try mill.put("bad", key: "k")
    for number in 0..<20 { try mill.put("n\(number)", key: "k\(number)") }
    let others = await mill.until { mill.answered().count == 20 }
    #expect(try #require(others) < .seconds(10))
    #expect(await mill.until { mill.answered().contains("bad") } != nil)
    #expect(book.calls == ["effect": [[1]]])
    hung.get()?.resume()
    await process.crash()
  }

  @Test func `a lane that hands over does not wait for ever for a handler that ignores cancellation`() async throws {
    let mill = try Mill(lanes: 1) { $0.drainTimeout = .seconds(8) }
    let hung = MillProcess.Shared<CheckedContinuation<Void, Never>?>(nil)
    let handler = MillHandler(Book()) { _, _ in
      await withCheckedContinuation { hung.set($0) }
      return .ignore
    }
    let process = mill.start("p", handler)
    try mill.put("bad", key: "k")
    await mill.until { hung.get() != nil }
    // Waits on a tier and falls due while the lane drains.
    await process.leave()
    let end = await mill.end(of: process, within: .seconds(60))
    hung.get()?.resume()
    #expect(try #require(end).time < .seconds(12))
    let next = mill.start("q", MillHandler(Book()))
    #expect(await mill.until { mill.answered() == ["bad"] } != nil)
    await next.crash()
  }

  @Test func `records that fall due while a lane drains hold nothing up`() async throws {
    let mill = try Mill(lanes: 1) { $0.drainTimeout = .seconds(8) }
    let clock = mill.time.clock
    let book = Book()
    let handler = MillHandler(book) { item, journal in
      if item.id == "slow" { try await clock.sleep(until: clock.now.advanced(by: .seconds(4))) }
      if item.id == "late", item.provenance.attempt == 0 { throw RetryableFailure("not yet") }
      return try await MillHandler.answer(item, journal)
    }
    let process = mill.start("p", handler)
    try mill.put("late", key: "a")
    await mill.until { mill.log.records(in: mill.topics.retries[0]).count == 1 }
    try mill.put("slow", key: "b")
    await mill.until { book.runs["slow"] == 1 }
    await process.leave()
    #expect(await mill.end(of: process, within: .seconds(60)) != nil)
    #expect(mill.answered() == ["slow"])
    let next = mill.start("q", handler)
    #expect(await mill.until { mill.answered() == ["slow", "late"] } != nil)
    #expect(book.runs == ["slow": 1, "late": 2])
    await next.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `what is in hand when a process dies for the third time in a row is given to a person`(
    commit: KafkaSettings.Commit
  ) async throws {
    let mill = try Mill(lanes: 1, commit: commit)
    let book = Book()
    var deaths = 0
    var last: MillProcess?
    for life in 0..<6 {
      let log = MillProcess.Shared<InMemoryLog?>(nil)
      let process = mill.start(
        "p\(life)", isKept: false,
        MillHandler(book) { item, journal in
          if item.id == "killer" {
            log.get()?.crash()
            throw CancellationError()
          }
          return try await MillHandler.answer(item, journal)
        })
      log.set(process.log)
      if life == 0 {
        for number in 0..<10 { try mill.put(number == 5 ? "killer" : "n\(number)", key: "k\(number)") }
      }
      last = process
      let isOver = await mill.until {
        process.log.isCrashed || (Set(mill.answered()).count == 9 && !mill.dead().isEmpty)
      }
      #expect(isOver != nil)
      guard process.log.isCrashed else { break }
      deaths += 1
      await process.crash()
      // The group and the open transaction of the dead.
      mill.time.advance(by: .seconds(12))
    }
    #expect(deaths == 3)
    #expect(mill.dead() == ["killer": "crashed-the-process"])
    #expect(Set(mill.answered()) == Set((0..<10).filter { $0 != 5 }.map { "n\($0)" }))
    if commit == .transactional { #expect(mill.answered().count == 9) }
    await last?.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a timer that kills its process three times is given to a person, and fires again on a person's word`(
    commit: KafkaSettings.Commit
  ) async throws {
    let mill = try Mill(lanes: 1, commit: commit)
    let (book, isMended) = (Book(), MillProcess.Shared(false))
    let clock = mill.time.clock
    var deaths = 0
    var last: MillProcess?
    for life in 0..<6 {
      let log = MillProcess.Shared<InMemoryLog?>(nil)
      var handler = MillHandler(book) { item, journal in
        let answer = try await MillHandler.answer(item, journal)
        guard item.id == "sets" else { return answer }
        let at = clock.wallTime + .seconds(5)
        return answer.settingTimer("killer", at: at, payload: [7]).settingTimer("other", at: at + .seconds(1))
      }
      handler.fired = { timer, _ in
        if timer.name == "killer", !isMended.get() {
          log.get()?.crash()
          throw CancellationError()
        }
        return try .emit(MillHandler.Answer(id: timer.name))
      }
      let process = mill.start("p\(life)", isKept: false, handler)
      log.set(process.log)
      if life == 0 { for id in ["sets", "n1", "n2"] { try mill.put(id, key: id) } }
      last = process
      // Both timers have fired or died.
      let isOver = await mill.until {
        process.log.isCrashed || mill.answered().contains { $0.hasPrefix("timer/other/") }
      }
      #expect(isOver != nil)
      guard process.log.isCrashed else { break }
      deaths += 1
      await process.crash()
      // The group and the open transaction of the dead.
      mill.time.advance(by: .seconds(12))
    }
    #expect(deaths == 3)
    let letters = mill.log.records(in: mill.topics.deadLetters)
    let letter = try #require(letters.first)
    #expect(letters.count == 1)
    #expect(Mill.header("millrace-reason", of: letter) == PoisonWatch.reason)
    #expect(Mill.header("millrace-timer", of: letter) == "killer")
    #expect(Mill.header("millrace-remedy", of: letter).contains("requeue"), "what to do next is not said")
    #expect(Mill.header("millrace-detail", of: letter).hasPrefix("the timer killer, due "))
    #expect(letter.value == [7] && letter.key == Array("sets".utf8))
    #expect(Set(mill.answered()).isSuperset(of: ["sets", "n1", "n2"]))
    // Without transactions the ledger is written after the events.
    let tombstones = await mill.until {
      mill.log.records(in: mill.topics.ledger).count { $0.key?.first == UInt8(ascii: "t") && $0.value == nil } == 2
    }
    #expect(tombstones != nil)

    isMended.set(true)
    let command = OperationCommand(
      id: "c", item: OperationCommand.deadLetter(lane: 0, offset: letter.offset), worker: "mill", lane: 0,
      action: .requeue, why: "mended", by: "ann", at: mill.time.clock.wallTime)
    try mill.log.append(OperationsRecord.command(command).producerRecord(mill.topics.operations))
    let fired = await mill.until { mill.answered().contains { $0.hasPrefix("timer/killer/") } }
    #expect(fired != nil)
    #expect(mill.operations().standing(of: command.item)?.failure == nil)
    #expect(book.runs["killer"] == deaths + 1)
    await last?.crash()
  }

  @Test(arguments: [false, true])
  func `a worker that writes to a topic it does not declare ends and says so, and no record is blamed`(isTimer: Bool)
    async throws
  {
    let mill = try Mill(lanes: 2, tables: ["declared"])
    let row = OutputRecord(topic: "other", key: "k", value: [1])
    let clock = mill.time.clock
    var handler = MillHandler(Book()) { item, journal in
      let answer = try await MillHandler.answer(item, journal)
      guard item.id == "bad" else { return answer.writing(OutputRecord(topic: "declared", key: "k", value: [1])) }
      guard isTimer else { return answer.keeping("state", [1], row: row) }
      return answer.settingTimer("t", at: clock.wallTime + .seconds(1))
    }
    handler.fired = { _, _ in .ignore.writing(row) }
    try mill.put("bad", key: "k")
    // More often than a record may kill its process.
    for life in 0..<5 {
      let process = mill.start("p\(life)", isKept: false, handler)
      let end = try #require(await mill.end(of: process, within: .seconds(120)), "it lives on")
      let error = try #require(end.error as? MillraceError)
      #expect(error.area == .topics)
      #expect(error.problems.first?.place == "other")
      #expect(error.problems.first?.what.contains("mill") == true)
      #expect(error.problems.first?.remedy.contains(#"tables: Set<String> = ["other"]"#) == true)
    }
    #expect(mill.dead().isEmpty)
    #expect(mill.answered() == (isTimer ? ["bad"] : []))
    // Mended, it does what was left.
    let mended = MillHandler(Book())
    let last = mill.start("last", mended)
    try mill.put("n", key: "k")
    #expect(await mill.until { Set(mill.answered()) == ["bad", "n"] && mill.isRead() } != nil)
    #expect(mill.dead().isEmpty)
    await last.crash()
  }

  @Test func `an outcome larger than Kafka takes is a dead letter, and others are committed`() async throws {
    let mill = try Mill(lanes: 1, tables: ["table"])
    let process = mill.start(
      "p",
      MillHandler(Book()) { item, journal in
        guard item.id == "large" else { return try await MillHandler.answer(item, journal) }
        return .ignore.writing(OutputRecord(topic: "table", key: "k", value: [UInt8](repeating: 0, count: 5 << 20)))
      })
    try mill.put("large", key: "k")
    try mill.put("next", key: "k")
    #expect(await mill.until { mill.answered() == ["next"] && mill.isRead() } != nil)
    #expect(mill.dead() == ["large": "outcome-too-large"])
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `what Kafka refuses for what it is ends the process with Kafka's own word, and nothing of it is read`(
    commit: KafkaSettings.Commit
  ) async throws {
    let mill = try Mill(lanes: 1, commit: commit)
    let process = mill.start("p", isKept: false, MillHandler(Book()))
    process.log.fail(
      .send,
      with: [
        KafkaError(code: .topicAuthorizationFailed, operation: "send to \(mill.topics.events)", reason: "no right")
      ],
      in: mill.topics.events)
    try mill.put("n", key: "k")
    let end = try #require(await mill.end(of: process))
    #expect((end.error as? KafkaError)?.code == .topicAuthorizationFailed)
    #expect(mill.answered().isEmpty && !mill.isRead())
    // Given the right, its successor does what was left.
    let next = mill.start("q", MillHandler(Book()))
    #expect(await mill.until { mill.answered() == ["n"] && mill.isRead() } != nil)
    await next.crash()
  }

  @Test func `a record of a megabyte is handled, parked and handled again`() async throws {
    let mill = try Mill(lanes: 1)
    let process = mill.start(
      "p",
      MillHandler(Book()) { item, journal in
        if item.provenance.attempt == 0 { throw RetryableFailure("not yet") }
        return try await MillHandler.answer(item, journal)
      })
    try mill.put("large", key: "k", padding: 1 << 20)
    #expect(await mill.until { mill.answered() == ["large"] } != nil)
    #expect(mill.log.records(in: mill.topics.retries[0]).map { $0.value?.count } == [(1 << 20) + 5])
    await process.crash()
  }

  @Test func `a record without room for its history is a letter that names where it stands`() async throws {
    let mill = try Mill(lanes: 1)
    let process = mill.start(
      "p",
      MillHandler(Book()) { item, journal in
        if item.id == "large" { throw RetryableFailure("not yet") }
        return try await MillHandler.answer(item, journal)
      })
    try mill.put("large", key: "k", padding: (4 << 20) - 1_000)
    try mill.put("next", key: "k")
    #expect(await mill.until { mill.answered() == ["next"] && mill.isRead() } != nil)
    #expect(mill.dead().values.map { $0 } == ["too-large-to-park"])
    let letter = try #require(mill.log.records(in: mill.topics.deadLetters).first)
    #expect(letter.value == nil)
    #expect(Provenance(letter).first.topic == Mill.live)
    await process.crash()
  }

  @Test func `something that only claims a notification's id does not keep the notification out`() async throws {
    let mill = try Mill(lanes: 1)
    let genuine = mill.record("n", key: "k").value
    let book = Book()
    let inner = MillHandler(book)
    struct Verifying: LaneHandling {
      let inner: MillHandler
      let genuine: [UInt8]?
      func run(_ item: LaneItem, journal: any EffectJournal) async -> HandlerResult {
        guard item.record.value == genuine else {
          return .undecodable(UndecodableRecord(reason: .unverified, description: "forged"))
        }
        return await inner.run(item, journal: journal)
      }
      func run(_ timer: FiredTimer, journal: any EffectJournal) async -> HandlerResult { .decided(.ignore) }
    }
    let process = mill.start("p", Verifying(inner: inner, genuine: genuine))
    var forged = mill.record("n", key: "k")
    forged.value = Array("forged".utf8)
    try mill.log.append(forged)
    try mill.put("n", key: "k")
    #expect(await mill.until { mill.answered() == ["n"] } != nil)
    #expect(mill.dead() == ["n": "unverified"])
    await process.crash()
  }

  @Test func `an operator's slip ends the command, not the worker`() async throws {
    let mill = try Mill(lanes: 1)
    let process = mill.start("p", MillHandler(Book()))
    try mill.put("n0", key: "k")
    await mill.until { mill.answered() == ["n0"] }
    func order(_ id: String, _ action: OperationCommand.Action) throws {
      let record = OperationsRecord.command(
        OperationCommand(
          id: id, item: "item-\(id)", worker: "mill", lane: 0, action: action, why: "test", by: "test",
          at: mill.time.clock.wallTime))
      try mill.log.append(
        ProducerRecord(
          topic: mill.topics.operations, partition: 0, key: record.key, value: record.json.serialized()))
    }
    try order("1", .replay(ReplayPart(topic: "no.such.topic", from: 0, to: 5, isReapply: false)))
    try mill.log.trim(TopicPartition(topic: Mill.live, partition: 0), before: 1)
    try order("2", .replay(ReplayPart(topic: Mill.live, from: 0, to: 1, isReapply: false)))
    func outcomes() throws -> [String: OperationResult.Outcome] {
      var found: [String: OperationResult.Outcome] = [:]
      for record in mill.log.records(in: mill.topics.operations) {
        guard case .result(let result)? = OperationsRecord(try JSON(parsing: record.value ?? [])) else { continue }
        found[result.command] = result.outcome
      }
      return found
    }
    #expect(await mill.until { (try? outcomes().count) == 2 } != nil)
    for outcome in try outcomes().values {
      guard case .failed = outcome else {
        Issue.record("\(outcome)")
        continue
      }
    }
    try mill.put("n1", key: "k")
    #expect(await mill.until { mill.answered() == ["n0", "n1"] } != nil)
    await process.crash()
  }

  @Test func `what retention deleted before it was read is skipped once, and the rest is read`() async throws {
    let mill = try Mill(lanes: 1)
    let first = mill.start("p", MillHandler(Book()))
    try mill.put("n0", key: "k")
    await mill.until { mill.answered() == ["n0"] && mill.isRead() }
    await first.crash()
    for number in 1..<10 { try mill.put("n\(number)", key: "k") }
    try mill.log.trim(TopicPartition(topic: Mill.live, partition: 0), before: 6)
    mill.time.advance(by: .seconds(12))
    let second = mill.start("q", MillHandler(Book()))
    #expect(await mill.until { mill.answered() == ["n0", "n6", "n7", "n8", "n9"] && mill.isRead() } != nil)
    await second.crash()
  }
}
