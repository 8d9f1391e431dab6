// Tests how lanes execute replays: selection, pace, crashes, and priority of live records.

import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct ReplayTests {
  private func part(_ fleet: WorkerFleet, to end: Int64, _ change: (inout ReplayPart) -> Void = { _ in }) throws {
    var part = ReplayPart(topic: WorkerFleet.live, from: 0, to: end)
    change(&part)
    let command = OperationCommand(
      id: "c", run: "run", item: "c", worker: "mill", lane: 0, action: .replay(part), why: "a test", by: "ann",
      at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(command).producerRecord(fleet.topics.operations))
  }

  private func say(_ verb: RunVerb, _ fleet: WorkerFleet) throws {
    let control = RunControl(run: "run", verb, by: "bob", at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.control(control).producerRecord(fleet.topics.operations))
  }

  private func result(_ fleet: WorkerFleet) -> OperationsLog.Status? {
    fleet.operations().status(of: "c")
  }

  /// Returns the original offsets of the records in the replay topic.
  private func copied(_ fleet: WorkerFleet) -> [Int64] {
    fleet.log.records(in: fleet.topics.replay).map { DeliveryHistory($0).first.offset }
  }

  private func ended(_ fleet: WorkerFleet) -> [AuditRecord] {
    fleet.log.records(in: fleet.topics.audit).compactMap { AuditRecord($0) }
  }

  private func fill(_ fleet: WorkerFleet, _ count: Int) throws {
    for number in 0..<count { try fleet.put("n\(number)", key: "k\(number % 7)", app: number % 3 == 0 ? "a" : "b") }
  }

  @Test func `a replay sends only selected records, marks them, and writes its end to the audit trail`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    try fill(fleet, 60)
    let book = Book()
    let process = fleet.start("p", FleetHandler(book))
    #expect(await fleet.until { fleet.answered().count == 60 } != nil)
    try part(fleet, to: 50) { part in
      part.isReapply = true
      part.selection.apps = ["a"]
    }
    #expect(await fleet.until { result(fleet)?.outcome == .done && fleet.isRead() } != nil)
    let chosen = (0..<50 as Range<Int64>).filter { $0 % 3 == 0 }
    #expect(copied(fleet) == chosen && result(fleet)?.sent == Int64(chosen.count))
    for copy in fleet.log.records(in: fleet.topics.replay) {
      #expect(
        WorkerFleet.header("ce_origin", of: copy) == "replay" && WorkerFleet.header("ce_replayid", of: copy) == "run")
      #expect(copy.headers.filter { $0.name == "ce_origin" }.count == 1)
    }
    #expect(fleet.answered().count == 60, "the same outcome must publish no event when it is reapplied")
    #expect(book.runs["n0"] == 2 && book.runs["n1"] == 1)
    let end = try #require(ended(fleet).first)
    #expect(ended(fleet).count == 1 && end.run == "run" && end.by == "ann" && end.action == .reapply)
    #expect(
      end.phase == .ended(part: "\(WorkerFleet.live)/0", result: .done, counts: [.init("sent", Int64(chosen.count))]))
    await process.crash()
  }

  @Test func `a notification that Apple has posted twice has two new events with ids of their own`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    for _ in 0..<2 { try fleet.put("n1", key: "k") }
    let book = Book()
    let process = fleet.start(
      "p", FleetHandler(book) { item, _ in try .emit(FleetHandler.Answer(id: "run \(book.runs[item.id] ?? 0)")) })
    #expect(await fleet.until { fleet.eventIDs().count == 1 && fleet.isRead() } != nil)
    try part(fleet, to: 2) { $0.isReapply = true }
    #expect(await fleet.until { result(fleet)?.outcome == .done && fleet.isRead() } != nil)
    #expect(book.runs["n1"] == 3 && fleet.eventIDs().count == 3 && Set(fleet.eventIDs()).count == 3)
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a reapplied record is not handled again because an earlier one is unfinished`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    for number in 0..<3 { try fleet.put("n\(number)", key: "k\(number)") }
    let (book, clock) = (Book(), fleet.time.clock)
    let slow = FleetHandler(book) { item, _ in
      if item.isReapplied, item.id == "n0" { try await clock.sleep(until: clock.now.advanced(by: .seconds(36_000))) }
      return try .emit(FleetHandler.Answer(id: "run \(book.runs[item.id] ?? 0)"))
    }
    let first = fleet.start("p", slow)
    #expect(await fleet.until { fleet.eventIDs().count == 3 && fleet.isRead() } != nil)
    try part(fleet, to: 3) { $0.isReapply = true }
    #expect(await fleet.until { fleet.eventIDs().count == 5 } != nil)
    await first.crash()
    let second = fleet.start(
      "q", FleetHandler(book) { item, _ in try .emit(FleetHandler.Answer(id: "run \(book.runs[item.id] ?? 0)")) })
    #expect(await fleet.until { fleet.eventIDs().count == 6 && fleet.isRead() } != nil)
    #expect(book.runs == ["n0": 3, "n1": 2, "n2": 2] && Set(fleet.eventIDs()).count == 6)
    await second.crash()
  }

  @Test func `reapplying the same outcome fires no timer twice`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    try fleet.put("n1", key: "k")
    let (book, clock) = (Book(), fleet.time.clock)
    let (soon, late) = (clock.wallTime + .seconds(1), clock.wallTime + .seconds(100))
    var handler = FleetHandler(book) { _, _ in .ignore.settingTimer("soon", at: soon).settingTimer("late", at: late) }
    handler.fired = { timer, _ in try .emit(FleetHandler.Answer(id: timer.name)) }
    let process = fleet.start("p", handler)
    #expect(await fleet.until { fleet.eventIDs().count == 1 && fleet.isRead() } != nil)
    try part(fleet, to: 1) { $0.isReapply = true }
    #expect(await fleet.until { result(fleet)?.outcome == .done && book.runs["n1"] == 2 && fleet.isRead() } != nil)
    await fleet.until(within: .seconds(60)) { false }
    #expect(book.runs["soon"] == 1 && fleet.eventIDs().count == 1)
    #expect(await fleet.until { fleet.eventIDs().count == 2 } != nil)
    await fleet.until(within: .seconds(60)) { false }
    #expect(book.runs["soon"] == 1 && book.runs["late"] == 1 && fleet.eventIDs().count == 2)
    await process.crash()
  }

  @Test func `reapplying does not repeat a timer that a failed attempt set`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    try fleet.put("n1", key: "k")
    let (book, clock) = (Book(), fleet.time.clock)
    let soon = clock.wallTime + .seconds(1)
    var handler = FleetHandler(book) { item, _ in
      item.attempt > 0 ? .ignore : .retry(after: .seconds(2), because: "not yet").settingTimer("soon", at: soon)
    }
    handler.fired = { timer, _ in try .emit(FleetHandler.Answer(id: timer.name)) }
    let process = fleet.start("p", handler)
    #expect(await fleet.until { book.runs["n1"] == 2 && fleet.eventIDs().count == 1 && fleet.isRead() } != nil)
    try part(fleet, to: 1) { $0.isReapply = true }
    #expect(await fleet.until { book.runs["n1"] == 4 && fleet.isRead() } != nil)
    await fleet.until(within: .seconds(60)) { false }
    #expect(book.runs["soon"] == 1 && fleet.eventIDs().count == 1)
    await process.crash()
  }

  @Test func `an operator can pause, resume and stop a run without blocking other commands`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    try fill(fleet, 100)
    let process = fleet.start("p", FleetHandler(Book()))
    #expect(await fleet.until { fleet.answered().count == 100 } != nil)
    try part(fleet, to: 100) { $0.rate = 10 }
    #expect(await fleet.until { copied(fleet).count >= 20 } != nil)
    #expect(copied(fleet).count < 60, "the replay exceeded its rate")
    try say(.pause, fleet)
    // The run is paused if no record arrives for longer than the rate allows.
    var (before, quiet) = (-1, 0)
    #expect(
      await fleet.until(step: .milliseconds(500)) {
        let count = copied(fleet).count
        quiet = count == before ? quiet + 1 : 0
        before = count
        return quiet == 20
      } != nil)
    #expect(before < 100 && result(fleet)?.isOpen == true)
    // A command for a dead letter of the lane is executed in the meantime.
    let discard = OperationCommand(
      id: "d", item: OperationCommand.deadLetter(lane: 0, offset: 0), worker: "mill", lane: 0, action: .discard,
      why: "",
      by: "", at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(discard).producerRecord(fleet.topics.operations))
    #expect(
      await fleet.until {
        fleet.log.records(in: fleet.topics.operations).contains {
          if case .result(let result)? = OperationsRecord($0) { result.command == "d" } else { false }
        }
      } != nil)
    try say(.resume, fleet)
    #expect(await fleet.until { copied(fleet).count > before } != nil)
    try say(.stop, fleet)
    #expect(await fleet.until { result(fleet)?.isOpen == false } != nil)
    guard case .stopped(let next)? = result(fleet)?.outcome else {
      Issue.record("\(String(describing: result(fleet)))")
      return
    }
    #expect(copied(fleet) == Array(0..<next) && next < 100)
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce], 0..<12)
  func `every record is sent and handled once, whenever the process crashes`(
    commit: KafkaSettings.Commit, moment: Int
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    fleet.log.setLatency(.milliseconds(3))
    let book = Book()
    for number in 0..<450 { try fleet.put("n\(number)", key: "k\(number % 50)") }
    // No record was handled before, so a copy that is handled twice would publish twice.
    try part(fleet, to: 450) { $0.selection.apps = ["com.example.a"] }
    let first = fleet.start("p", isKept: false, FleetHandler(book))
    _ = await fleet.until(within: .milliseconds(40 + 25 * moment), step: .milliseconds(1)) { false }
    await first.crash()
    let second = fleet.start("q", FleetHandler(book))
    #expect(await fleet.until { result(fleet)?.outcome == .done && fleet.isRead() } != nil)
    let copies = copied(fleet)
    #expect(Set(copies) == Set(0..<450), "moment \(moment)")
    #expect(copies.count == 450, "moment \(moment): sent twice")
    // Without transactions an event may be published again after a crash, with the same ID.
    #expect(Set(fleet.eventIDs()).count == 450)
    if commit == .transactional { #expect(fleet.answered().count == 450) }
    await second.crash()
  }

  @Test func `live records are handled before a backlog of replayed ones`() async throws {
    let fleet = try WorkerFleet(lanes: 1) { $0.parallelism = 1 }
    try fill(fleet, 400)
    let book = Book()
    let process = fleet.start(
      "p",
      FleetHandler(book) { item, recorder in
        if item.source == .replay {
          try await fleet.time.clock.sleep(until: fleet.time.clock.now.advanced(by: .seconds(1)))
        }
        return try await FleetHandler.answer(item, recorder)
      })
    #expect(await fleet.until { fleet.answered().count == 400 } != nil)
    try part(fleet, to: 400) { $0.isReapply = true }
    #expect(await fleet.until { copied(fleet).count == 400 && (book.runs["n3"] ?? 0) > 1 } != nil)
    for number in 0..<30 { try fleet.put("live\(number)", key: "live\(number)") }
    // One replayed record is running. No other may run before the thirty live records.
    let wait = await fleet.until { fleet.answered().count == 430 }
    #expect(try #require(wait) < .seconds(10), "live records waited for a replay")
    #expect(!fleet.isRead(), "the replay ended before the live records, so the test shows nothing")
    await process.crash()
  }

  @Test func `a replay fails with the oldest offset if retention deletes its records`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    try fill(fleet, 40)
    let process = fleet.start("p", FleetHandler(Book()))
    #expect(await fleet.until { fleet.isRead() } != nil)
    try part(fleet, to: 40) { $0.rate = 5 }
    #expect(await fleet.until { copied(fleet).count >= 5 } != nil)
    try say(.pause, fleet)
    _ = await fleet.until(within: .seconds(5), step: .milliseconds(100)) { false }
    try fleet.log.trim(TopicPartition(topic: WorkerFleet.live, partition: 0), before: 38)
    try say(.resume, fleet)
    #expect(await fleet.until { result(fleet)?.isOpen == false } != nil)
    guard case .failed(let why)? = result(fleet)?.outcome else {
      Issue.record("\(String(describing: result(fleet)))")
      return
    }
    #expect(why.contains("the oldest is 38"), "\(why)")
    await process.crash()
  }

  @Test func `a replay of a topic that was created again fails with its end`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    try fill(fleet, 40)
    let process = fleet.start("p", FleetHandler(Book()))
    #expect(await fleet.until { fleet.isRead() } != nil)
    await process.crash()
    try part(fleet, to: 40)
    fleet.log.recreateTopic(WorkerFleet.live, forgettingOffsets: true)
    try fill(fleet, 3)
    let next = fleet.start("p", FleetHandler(Book()))
    #expect(await fleet.until { result(fleet)?.isOpen == false } != nil)
    guard case .failed(let why)? = result(fleet)?.outcome else {
      Issue.record("\(String(describing: result(fleet)))")
      return
    }
    #expect(why.contains("offsets 3 to 39 are gone"), "\(why)")
    await next.crash()
  }

  @Test func `a replay of a topic that was created again and is longer fails before it sends anything`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    try fill(fleet, 40)
    let process = fleet.start("p", FleetHandler(Book()))
    #expect(await fleet.until { fleet.isRead() } != nil)
    await process.crash()
    let last = try #require(fleet.log.records(in: WorkerFleet.live).last)
    try part(fleet, to: 40) { $0.last = RecordFingerprint(last) }
    fleet.log.recreateTopic(WorkerFleet.live, forgettingOffsets: true)
    for number in 0..<60 { try fleet.put("m\(number)", key: "k\(number % 7)") }
    let next = fleet.start("p", FleetHandler(Book()))
    #expect(await fleet.until { result(fleet)?.isOpen == false } != nil)
    #expect(
      result(fleet)?.outcome
        == .failed("the topic was created again: offset 39 has another record than when the replay began"))
    #expect(fleet.log.records(in: fleet.topics.replay).isEmpty)
    await next.crash()
  }
}
