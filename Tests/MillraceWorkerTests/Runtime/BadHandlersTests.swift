// Tests handlers and records that misbehave, and that other records are still handled.

import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Synchronization
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct BadHandlersTests {
  @Test func `a handler that ignores its cancellation is abandoned, and its effect can run again`()
    async throws
  {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    let hung = FleetProcess.Shared<CheckedContinuation<Void, Never>?>(nil)
    let handler = FleetHandler(book) { item, recorder in
      if item.id == "bad", item.history.attempt == 0 {
        _ = try await recorder.begin("effect", body: [1])
        await withCheckedContinuation { hung.set($0) }
        // An abandoned handler cannot begin another effect.
        await #expect(throws: CancellationError.self) { _ = try await recorder.begin("another", body: [1]) }
        return .ignore
      }
      if item.id == "bad" { try await FleetHandler.cause("effect", recorder, in: book) }
      return try await FleetHandler.answer(item, recorder)
    }
    let process = fleet.start("p", handler)
    try fleet.put("bad", key: "k")
    for number in 0..<20 { try fleet.put("n\(number)", key: "k\(number)") }
    let others = await fleet.until { fleet.answered().count == 20 }
    #expect(try #require(others) < .seconds(10))
    #expect(await fleet.until { fleet.answered().contains("bad") } != nil)
    #expect(book.calls == ["effect": [[1]]])
    hung.get()?.resume()
    await process.crash()
  }

  @Test(arguments: [true, false])
  func `an abandoned run neither ends nor withdraws the effect of the next run`(withdraws: Bool) async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let book = Book()
    typealias Hung = CheckedContinuation<Void, Never>
    let (hung, next) = (FleetProcess.Shared<Hung?>(nil), FleetProcess.Shared<Hung?>(nil))
    let (isLateOver, wasRefused) = (FleetProcess.Shared(false), FleetProcess.Shared(false))
    let handler = FleetHandler(book) { item, recorder in
      guard case .intended(let intent) = try await recorder.begin("effect", body: [UInt8(item.history.attempt)])
      else { return .ignore }
      if item.history.attempt == 0 {
        await withCheckedContinuation { hung.set($0) }
        // The run timed out long ago, and the next run is calling now.
        if withdraws { await recorder.withdraw("effect") }
        do { if !withdraws { try await recorder.end("effect", result: [9]) } } catch { wasRefused.set(true) }
        isLateOver.set(true)
        return .ignore
      }
      book.call("effect", intent.body)
      await withCheckedContinuation { next.set($0) }
      try await recorder.end("effect", result: [1])
      return try await FleetHandler.answer(item, recorder)
    }
    let process = fleet.start("p", handler)
    try fleet.put("n", key: "k")
    #expect(await fleet.until { next.get() != nil } != nil)
    hung.get()?.resume()
    #expect(await fleet.until { isLateOver.get() } != nil)
    await fleet.until(within: .seconds(1)) { false }
    #expect(try fleet.ledger().effect("effect")?.progress == .intended(body: [0]), "the intent was changed")
    #expect(wasRefused.get() != withdraws)
    next.get()?.resume()
    #expect(await fleet.until { fleet.answered() == ["n"] } != nil)
    #expect(try fleet.ledger().effect("effect")?.progress == .ended(result: [1]))
    #expect(book.calls == ["effect": [[0]]])
    await process.crash()
  }

  @Test func `the time limit of a handler begins after its crash mark is written`() async throws {
    var fleet = try WorkerFleet(lanes: 1) { $0.handlerTimeout = .seconds(2) }
    let settles = Duration.seconds(1)
    // After two unclean ends, the lane names each record in its crash mark before the record runs.
    for life in 0..<2 {
      let process = fleet.start("p\(life)", isKept: false, FleetHandler(Book()))
      await fleet.until { await process.lanes() == [0] }
      await fleet.until(within: settles) { false }
      await process.crash()
      fleet.time.advance(by: .seconds(12))
    }
    // The process receives the record, and then Kafka no longer answers it.
    let log = FleetProcess.Shared<InMemoryLog?>(nil)
    let isPaused = FleetProcess.Shared(false)
    fleet.deadline = { _, _ in
      log.get()?.pause()
      isPaused.set(true)
      return nil
    }
    let attempts = FleetProcess.Shared<[Int]>([])
    let process = fleet.start(
      "q",
      FleetHandler(Book()) { item, recorder in
        attempts.change { $0.append(item.attempt) }
        return try await FleetHandler.answer(item, recorder)
      })
    log.set(process.log)
    try fleet.put("n", key: "k")
    await fleet.until { isPaused.get() }
    await fleet.until(within: .seconds(3)) { false }
    log.set(nil)
    process.log.resume()
    #expect(await fleet.until { fleet.answered() == ["n"] && fleet.isRead() } != nil)
    #expect(attempts.get() == [0], "waiting for the crash mark cost an attempt")
    await process.crash()
  }

  @Test func `a lane that drains does not wait for ever for a handler that ignores cancellation`() async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.drainTimeout = .seconds(8) }
    let hung = FleetProcess.Shared<CheckedContinuation<Void, Never>?>(nil)
    let handler = FleetHandler(Book()) { _, _ in
      await withCheckedContinuation { hung.set($0) }
      return .ignore
    }
    let process = fleet.start("p", handler)
    try fleet.put("bad", key: "k")
    await fleet.until { hung.get() != nil }
    // The record is in a handler while the lane drains.
    await process.leave()
    let end = await fleet.end(of: process, within: .seconds(60))
    hung.get()?.resume()
    #expect(try #require(end).time < .seconds(12))
    let next = fleet.start("q", FleetHandler(Book()))
    #expect(await fleet.until { fleet.answered() == ["bad"] } != nil)
    await next.crash()
  }

  @Test func `records that fall due while a lane drains do not delay it`() async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.drainTimeout = .seconds(8) }
    let clock = fleet.time.clock
    let book = Book()
    let handler = FleetHandler(book) { item, recorder in
      if item.id == "slow" { try await clock.sleep(until: clock.now.advanced(by: .seconds(4))) }
      if item.id == "late", item.history.attempt == 0 { throw HandlerFailed("not yet") }
      return try await FleetHandler.answer(item, recorder)
    }
    let process = fleet.start("p", handler)
    try fleet.put("late", key: "a")
    await fleet.until { fleet.log.records(in: fleet.topics.retries[0]).count == 1 }
    try fleet.put("slow", key: "b")
    await fleet.until { book.runs["slow"] == 1 }
    await process.leave()
    #expect(await fleet.end(of: process, within: .seconds(60)) != nil)
    #expect(fleet.answered() == ["slow"])
    let next = fleet.start("q", handler)
    #expect(await fleet.until { fleet.answered() == ["slow", "late"] } != nil)
    #expect(book.runs == ["slow": 1, "late": 2])
    await next.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a record that is running at the third crash in a row becomes a dead letter`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    let book = Book()
    var deaths = 0
    var last: FleetProcess?
    for life in 0..<6 {
      let log = FleetProcess.Shared<InMemoryLog?>(nil)
      let process = fleet.start(
        "p\(life)", isKept: false,
        FleetHandler(book) { item, recorder in
          if item.id == "killer" {
            log.get()?.crash()
            throw CancellationError()
          }
          return try await FleetHandler.answer(item, recorder)
        })
      log.set(process.log)
      if life == 0 {
        for number in 0..<10 { try fleet.put(number == 5 ? "killer" : "n\(number)", key: "k\(number)") }
      }
      last = process
      let isOver = await fleet.until {
        process.log.isCrashed || (Set(fleet.answered()).count == 9 && !fleet.dead().isEmpty)
      }
      #expect(isOver != nil)
      guard process.log.isCrashed else { break }
      deaths += 1
      await process.crash()
      // The group and the open transaction of the dead.
      fleet.time.advance(by: .seconds(12))
    }
    // Four, if the mark before the second death did not name it.
    #expect((3...4).contains(deaths))
    #expect(fleet.dead() == ["killer": "crashed-the-process"])
    #expect(Set(fleet.answered()) == Set((0..<10).filter { $0 != 5 }.map { "n\($0)" }))
    if commit == .transactional { #expect(fleet.answered().count == 9) }
    await last?.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a timer that kills its process again and again is a dead letter, and a requeue sets it again`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    let (book, isMended) = (Book(), FleetProcess.Shared(false))
    let clock = fleet.time.clock
    var deaths = 0
    var last: FleetProcess?
    for life in 0..<6 {
      let log = FleetProcess.Shared<InMemoryLog?>(nil)
      var handler = FleetHandler(book) { item, recorder in
        let answer = try await FleetHandler.answer(item, recorder)
        guard item.id == "sets" else { return answer }
        let at = clock.wallTime + .seconds(5)
        return answer.settingTimer("killer", at: at, payload: [7]).settingTimer("other", at: at + .seconds(1))
      }
      handler.fired = { timer, _ in
        if timer.name == "killer", !isMended.get() {
          log.get()?.crash()
          throw CancellationError()
        }
        return try .emit(FleetHandler.Answer(id: timer.name))
      }
      let process = fleet.start("p\(life)", isKept: false, handler)
      log.set(process.log)
      if life == 0 { for id in ["sets", "n1", "n2"] { try fleet.put(id, key: id) } }
      last = process
      // Both timers have fired or are dead letters.
      let isOver = await fleet.until {
        process.log.isCrashed || fleet.answered().contains { $0.hasPrefix("timer/other/") }
      }
      #expect(isOver != nil)
      guard process.log.isCrashed else { break }
      deaths += 1
      await process.crash()
      // The group and the open transaction of the dead.
      fleet.time.advance(by: .seconds(12))
    }
    // Four, if the mark before the second death did not name it.
    #expect((3...4).contains(deaths))
    let letters = fleet.log.records(in: fleet.topics.deadLetters)
    let letter = try #require(letters.first)
    #expect(letters.count == 1)
    #expect(WorkerFleet.header("millrace-reason", of: letter) == PoisonDetector.reason)
    #expect(WorkerFleet.header("millrace-timer", of: letter) == "killer")
    #expect(WorkerFleet.header("millrace-remedy", of: letter).contains("requeue"), "the dead letter names no remedy")
    #expect(WorkerFleet.header("millrace-detail", of: letter).hasPrefix("the timer killer, due "))
    #expect(letter.value == [7] && letter.key == Array("sets".utf8))
    #expect(Set(fleet.answered()).isSuperset(of: ["sets", "n1", "n2"]))
    // Without transactions the ledger is written after the events.
    let tombstones = await fleet.until {
      fleet.log.records(in: fleet.topics.ledger).count { $0.key?.first == UInt8(ascii: "t") && $0.value == nil } == 2
    }
    #expect(tombstones != nil)

    isMended.set(true)
    let command = OperationCommand(
      id: "c", item: OperationCommand.deadLetter(lane: 0, offset: letter.offset), worker: "mill", lane: 0,
      action: .requeue, why: "mended", by: "ann", at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(command).producerRecord(fleet.topics.operations))
    let fired = await fleet.until { fleet.answered().contains { $0.hasPrefix("timer/killer/") } }
    #expect(fired != nil)
    #expect(fleet.operations().status(of: command.item)?.failure == nil)
    #expect(book.runs["killer"] == deaths + 1)
    await last?.crash()
  }

  @Test(arguments: [false, true])
  func `a write to an undeclared topic ends the worker with an error and poisons no record`(isTimer: Bool)
    async throws
  {
    let fleet = try WorkerFleet(lanes: 2, tables: ["declared"])
    let row = OutputRecord(topic: "other", key: "k", value: [1])
    let clock = fleet.time.clock
    var handler = FleetHandler(Book()) { item, recorder in
      let answer = try await FleetHandler.answer(item, recorder)
      guard item.id == "bad" else { return answer.writing(OutputRecord(topic: "declared", key: "k", value: [1])) }
      guard isTimer else { return .done(.keeping("state", [1], row: row)) }
      return answer.settingTimer("t", at: clock.wallTime + .seconds(1))
    }
    handler.fired = { _, _ in .ignore.writing(row) }
    try fleet.put("bad", key: "k")
    // More lives than the crashes that poison a record.
    for life in 0..<5 {
      let process = fleet.start("p\(life)", isKept: false, handler)
      let end = try #require(await fleet.end(of: process, within: .seconds(120)), "it lives on")
      let error = try #require(end.error as? MillraceError)
      #expect(error.area == .topics)
      #expect(error.problems.first?.place == "other")
      #expect(error.problems.first?.what.contains("mill") == true)
      #expect(error.problems.first?.remedy.contains(#"outputTopics: Set<String> = ["other"]"#) == true)
    }
    #expect(fleet.dead().isEmpty)
    #expect(fleet.answered() == (isTimer ? ["bad"] : []))
    // A repaired worker handles the remaining records.
    let mended = FleetHandler(Book())
    let last = fleet.start("last", mended)
    try fleet.put("n", key: "k")
    #expect(await fleet.until { Set(fleet.answered()) == ["bad", "n"] && fleet.isRead() } != nil)
    #expect(fleet.dead().isEmpty)
    await last.crash()
  }

  @Test func `an outcome larger than Kafka accepts is a dead letter, and others are committed`() async throws {
    let fleet = try WorkerFleet(lanes: 1, tables: ["table"])
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, recorder in
        guard item.id == "large" else { return try await FleetHandler.answer(item, recorder) }
        return .ignore.writing(OutputRecord(topic: "table", key: "k", value: [UInt8](repeating: 0, count: 5 << 20)))
      })
    try fleet.put("large", key: "k")
    try fleet.put("next", key: "k")
    #expect(await fleet.until { fleet.answered() == ["next"] && fleet.isRead() } != nil)
    #expect(fleet.dead() == ["large": "outcome-too-large"])
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a permanent refusal by Kafka ends the process with Kafka's error and commits nothing`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    let process = fleet.start("p", isKept: false, FleetHandler(Book()))
    process.log.fail(
      .send,
      with: [
        KafkaError(code: .topicAuthorizationFailed, operation: "send to \(fleet.topics.events)", reason: "no right")
      ],
      in: fleet.topics.events)
    try fleet.put("n", key: "k")
    let end = try #require(await fleet.end(of: process))
    #expect((end.error as? KafkaError)?.code == .topicAuthorizationFailed)
    #expect(fleet.answered().isEmpty && !fleet.isRead())
    // Its successor has the permission and handles the record.
    let next = fleet.start("q", FleetHandler(Book()))
    #expect(await fleet.until { fleet.answered() == ["n"] && fleet.isRead() } != nil)
    await next.crash()
  }

  @Test func `a record of one megabyte is handled, delayed and handled again`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, recorder in
        if item.history.attempt == 0 { throw HandlerFailed("not yet") }
        return try await FleetHandler.answer(item, recorder)
      })
    try fleet.put("large", key: "k", padding: 1 << 20)
    #expect(await fleet.until { fleet.answered() == ["large"] } != nil)
    #expect(fleet.log.records(in: fleet.topics.retries[0]).map { $0.value?.count } == [(1 << 20) + 5])
    await process.crash()
  }

  @Test func `a record without space for its history is a dead letter that names its position`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start(
      "p",
      FleetHandler(Book()) { item, recorder in
        if item.id == "large" { throw HandlerFailed("not yet") }
        return try await FleetHandler.answer(item, recorder)
      })
    try fleet.put("large", key: "k", padding: (4 << 20) - 1_000)
    try fleet.put("next", key: "k")
    #expect(await fleet.until { fleet.answered() == ["next"] && fleet.isRead() } != nil)
    #expect(fleet.dead().values.map { $0 } == ["too-large-to-delay"])
    let letter = try #require(fleet.log.records(in: fleet.topics.deadLetters).first)
    #expect(letter.value == nil)
    #expect(DeliveryHistory(letter).first.topic == WorkerFleet.live)
    await process.crash()
  }

  @Test func `a forged record with a notification's ID does not block the notification`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let genuine = fleet.record("n", key: "k").value
    let book = Book()
    let inner = FleetHandler(book)
    struct Verifying: LaneHandling {
      let inner: FleetHandler
      let genuine: [UInt8]?
      func run(_ item: LaneItem, recorder: any EffectRecorder) async -> HandlerResult {
        guard item.record.value == genuine else {
          return .undecodable(UndecodableRecord(reason: .unverified, description: "forged"))
        }
        return await inner.run(item, recorder: recorder)
      }
      func run(_ timer: FiredTimer, recorder: any EffectRecorder) async -> HandlerResult { .decided(.ignore) }
    }
    let process = fleet.start("p", Verifying(inner: inner, genuine: genuine))
    var forged = fleet.record("n", key: "k")
    forged.value = Array("forged".utf8)
    try fleet.log.append(forged)
    try fleet.put("n", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n"] } != nil)
    #expect(fleet.dead() == ["n": "unverified"])
    await process.crash()
  }

  @Test func `an invalid command fails without ending the worker`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let process = fleet.start("p", FleetHandler(Book()))
    try fleet.put("n0", key: "k")
    await fleet.until { fleet.answered() == ["n0"] }
    func order(_ id: String, _ action: OperationCommand.Action) throws {
      let record = OperationsRecord.command(
        OperationCommand(
          id: id, item: "item-\(id)", worker: "mill", lane: 0, action: action, why: "test", by: "test",
          at: fleet.time.clock.wallTime))
      try fleet.log.append(
        ProducerRecord(
          topic: fleet.topics.operations, partition: 0, key: record.key, value: record.json.serialized()))
    }
    try order("1", .replay(ReplayPart(topic: "no.such.topic", from: 0, to: 5, isReapply: false)))
    try fleet.log.trim(TopicPartition(topic: WorkerFleet.live, partition: 0), before: 1)
    try order("2", .replay(ReplayPart(topic: WorkerFleet.live, from: 0, to: 1, isReapply: false)))
    func outcomes() throws -> [String: OperationResult.Outcome] {
      var found: [String: OperationResult.Outcome] = [:]
      for record in fleet.log.records(in: fleet.topics.operations) {
        guard case .result(let result)? = OperationsRecord(try JSON(parsing: record.value ?? [])) else { continue }
        found[result.command] = result.outcome
      }
      return found
    }
    #expect(await fleet.until { (try? outcomes().count) == 2 } != nil)
    for outcome in try outcomes().values {
      guard case .failed = outcome else {
        Issue.record("\(outcome)")
        continue
      }
    }
    try fleet.put("n1", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n0", "n1"] } != nil)
    await process.crash()
  }

  @Test func `records that retention deleted unread are skipped, and the rest is handled`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let first = fleet.start("p", FleetHandler(Book()))
    try fleet.put("n0", key: "k")
    await fleet.until { fleet.answered() == ["n0"] && fleet.isRead() }
    await first.crash()
    for number in 1..<10 { try fleet.put("n\(number)", key: "k") }
    try fleet.log.trim(TopicPartition(topic: WorkerFleet.live, partition: 0), before: 6)
    fleet.time.advance(by: .seconds(12))
    let second = fleet.start("q", FleetHandler(Book()))
    #expect(await fleet.until { fleet.answered() == ["n0", "n6", "n7", "n8", "n9"] && fleet.isRead() } != nil)
    await second.crash()
  }
}
