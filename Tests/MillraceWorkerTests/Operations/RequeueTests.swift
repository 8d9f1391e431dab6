// Tests operators' commands and requeued dead letters.

import AppStore
import MillraceTime
import KafkaClient
import MillraceTesting
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct RequeueTests {
  private func command(_ fleet: WorkerFleet, _ id: String, requeue offset: Int64) throws {
    let record = OperationsRecord.command(
      OperationCommand(
        id: id, item: OperationCommand.deadLetter(lane: 0, offset: offset), worker: "mill", lane: 0, action: .requeue,
        why: "mended", by: "somebody", at: fleet.time.clock.wallTime))
    try fleet.log.append(
      ProducerRecord(
        topic: fleet.topics.operations, partition: 0, key: record.key, value: record.json.serialized()))
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `with strict ordering a delayed requeued dead letter does not block its key`(
    commit: KafkaSettings.Commit
  ) async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: commit) { $0.ordering = .strict }
    let handler = FleetHandler(Book()) { item, recorder in
      if item.id.hasPrefix("dead") {
        guard item.history.replay?.mode == .requeue else { throw HandlerError("broken", "not yet mended") }
        if item.history.attempt < 2 { throw HandlerFailed("still not") }
      }
      return try await FleetHandler.answer(item, recorder)
    }
    let process = fleet.start("p", handler)
    for id in ["dead1", "dead2", "n1"] { try fleet.put(id, key: "k") }
    #expect(await fleet.until { fleet.dead().count == 2 && fleet.answered() == ["n1"] } != nil)
    try command(fleet, "c1", requeue: 0)
    try command(fleet, "c2", requeue: 1)
    // The first of two commands for a dead letter wins.
    try command(fleet, "c3", requeue: 0)
    #expect(await fleet.until { fleet.log.records(in: fleet.topics.retries[0]).count >= 2 } != nil)
    for id in ["n2", "n3"] { try fleet.put(id, key: "k") }
    let wait = await fleet.until(within: .seconds(60), step: .milliseconds(1)) {
      fleet.answered() == ["n1", "n2", "n3"]
    }
    #expect(try #require(wait) < .seconds(2), "the records waited for the requeued dead letter")
    #expect(await fleet.until { fleet.answered().count == 5 && fleet.isRead() } != nil)
    #expect(Set(fleet.answered().suffix(2)) == ["dead1", "dead2"])
    let ledger = try fleet.ledger()
    for id in ["dead1", "dead2", "n1", "n2", "n3"] {
      guard case .done? = ledger[LedgerKey(id: id)]?.state else { Issue.record("\(id)"); continue }
    }
    #expect(ledger.tail(of: LedgerKey(hashing: Array("k".utf8))) == nil)
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a dead letter of a reapply run is reapplied when it is requeued`(commit: KafkaSettings.Commit)
    async throws
  {
    let fleet = try WorkerFleet(lanes: 1, commit: commit)
    let handler = FleetHandler(Book()) { item, recorder in
      guard let replay = item.history.replay else { return try await FleetHandler.answer(item, recorder) }
      guard replay.mode.isRequeue else { throw HandlerError("broken", "worse than before") }
      // The record is delayed in between and must still be reapplied.
      if item.attempt == 0 { throw HandlerFailed("not yet") }
      return try .emit(FleetHandler.Answer(id: "corrected"))
    }
    let process = fleet.start("p", handler)
    try fleet.put("n1", key: "k")
    #expect(await fleet.until { fleet.answered() == ["n1"] } != nil)
    let reapply = OperationCommand(
      id: "r", run: "r", item: "r", worker: "mill", lane: 0,
      action: .replay(ReplayPart(topic: WorkerFleet.live, from: 0, to: 1, isReapply: true)), why: "wrong", by: "ann",
      at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(reapply).producerRecord(fleet.topics.operations))
    #expect(await fleet.until { fleet.dead() == ["n1": "broken"] } != nil)
    try command(fleet, "c1", requeue: 0)
    #expect(await fleet.until { fleet.answered().count == 2 && fleet.isRead() } != nil)
    let events = fleet.log.records(in: fleet.topics.events)
    #expect(events.last?.value == Array(#"{"id":"corrected"}"#.utf8))
    #expect(events.last.map { WorkerFleet.header("ce_supersedes", of: $0) } == fleet.eventIDs().first)
    let copies = fleet.log.records(in: fleet.topics.replay)
    #expect(copies.map { WorkerFleet.header("millrace-replay-mode", of: $0) } == ["reapply", "requeue-reapply"])
    #expect(copies.map { WorkerFleet.header("ce_replayid", of: $0) } == ["r", "c1"])
    guard case .done? = try fleet.ledger()[LedgerKey(id: "n1")]?.state else {
      Issue.record("the notification is not done")
      return
    }
    await process.crash()
  }

  @Test func `a dead letter has the number of runs, including the last one`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let handler = FleetHandler(Book()) { item, _ in
      if item.id == "tried", item.attempt < 2 { throw HandlerFailed("not yet") }
      if item.id == "decided" { return .deadLetter("no-use", "nobody needs it") }
      throw HandlerError("broken", "for good")
    }
    let process = fleet.start("p", handler)
    for id in ["tried", "refused", "decided"] { try fleet.put(id, key: id) }
    #expect(await fleet.until { fleet.dead().count == 3 && fleet.isRead() } != nil)
    let letters = fleet.log.records(in: fleet.topics.deadLetters)
    let runs = Dictionary(letters.map { (WorkerFleet.header("ce_id", of: $0), DeliveryHistory($0).attempt) }) { $1 }
    #expect(runs == ["tried": 3, "refused": 1, "decided": 1])
    await process.crash()
  }

  @Test func `a dead letter without a copy is requeued from its original position while that exists`()
    async throws
  {
    let fleet = try WorkerFleet(lanes: 1)
    let handler = FleetHandler(Book()) { item, recorder in
      guard item.isRequeued else { throw HandlerError("broken", String(repeating: "so ", count: 300)) }
      return try await FleetHandler.answer(item, recorder)
    }
    // So large that the dead letter has no space for its headers.
    let padding = ProducerRecord.limit - fleet.record("n1", key: "k").bytes - 1_000
    try fleet.put("n1", key: "k", padding: padding)
    try fleet.put("n2", key: "k", padding: padding)
    let process = fleet.start("p", handler)
    #expect(await fleet.until { fleet.log.records(in: fleet.topics.deadLetters).count == 2 && fleet.isRead() } != nil)
    #expect(fleet.log.records(in: fleet.topics.deadLetters).allSatisfy { $0.value == nil })
    try fleet.log.trim(TopicPartition(topic: WorkerFleet.live, partition: 0), before: 1)
    try command(fleet, "c1", requeue: 0)
    try command(fleet, "c2", requeue: 1)
    #expect(await fleet.until { fleet.answered() == ["n2"] && fleet.isRead() } != nil)
    func status() -> OperationsLog.Status? {
      fleet.operations().status(of: OperationCommand.deadLetter(lane: 0, offset: 0))
    }
    #expect(await fleet.until { status()?.failure != nil } != nil)
    #expect(status()?.failure?.hasPrefix("the dead letter has no copy, and \(WorkerFleet.live)") == true)
    // A failed command does not settle the item, so the next command wins.
    let discard = OperationCommand(
      id: "c3", item: OperationCommand.deadLetter(lane: 0, offset: 0), worker: "mill", lane: 0, action: .discard,
      why: "too late", by: "bob", at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(discard).producerRecord(fleet.topics.operations))
    #expect(await fleet.until { status()?.outcome == .done && status()?.command.id == "c3" } != nil)
    await process.crash()
  }

  @Test func `a requeued record that missed its deadline has no deadline`() async throws {
    let fleet = try WorkerFleet(lanes: 1)
    let handler = FleetHandler(Book()) { item, recorder in
      guard item.history.replay?.mode == .requeue, item.history.attempt > 0 else {
        return .retry(after: .seconds(60), because: "not-yet")
      }
      return try await FleetHandler.answer(item, recorder)
    }
    var record = fleet.record("late", key: "k")
    let deadline = fleet.time.clock.wallTime + .seconds(5)
    // A history is used only on the worker's own topics.
    record.topic = fleet.topics.retries[0]
    record.headers.append(RecordHeader("millrace-deadline", String(deadline.millisecondsSince1970)))
    try fleet.log.append(record)
    let process = fleet.start("p", handler)
    #expect(await fleet.until { fleet.dead() == ["late": "deadline-missed"] } != nil)
    #expect(fleet.answered().isEmpty)
    try command(fleet, "c1", requeue: 0)
    #expect(await fleet.until { fleet.answered() == ["late"] && fleet.isRead() } != nil)
    await process.crash()
  }

  @Test func `without transactions each step is in Kafka before the next begins`() async throws {
    let fleet = try WorkerFleet(lanes: 1, commit: .atLeastOnce)
    fleet.log.setLatency(.milliseconds(50))
    let ids = (0..<30).map { "n\($0)" }
    for id in ids { try fleet.put(id, key: id) }
    let process = fleet.start("p", FleetHandler(Book()))
    var (sawEventsFirst, sawLedgerFirst) = (false, false)
    let isDone = await fleet.until(step: .milliseconds(10)) {
      // Reads in this order, because later reads see more.
      let read =
        fleet.log.committedOffsets(of: fleet.topics.group).first { $0.partition.topic == WorkerFleet.live }?.offset ?? 0
      let ledger = try? fleet.ledger()
      let answered = Set(fleet.answered())
      let handled = ids.filter { ledger?[LedgerKey(id: $0)] != nil }
      #expect(answered.isSuperset(of: handled), "the ledger has an event that is not in Kafka")
      #expect(Int(read) <= handled.count, "an offset was committed before the ledger")
      sawEventsFirst = sawEventsFirst || answered.count > handled.count
      sawLedgerFirst = sawLedgerFirst || handled.count > Int(read)
      return Int(read) == ids.count
    }
    #expect(isDone != nil && sawEventsFirst && sawLedgerFirst)
    await process.crash()
  }
}
