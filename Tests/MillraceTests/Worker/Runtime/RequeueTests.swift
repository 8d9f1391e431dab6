// Operators' commands at work, and dead letters that come back.

import AppStore
import Clocks
import Kafka
import MillraceTesting
import Testing

@testable import Millrace

@Suite(.timeLimit(.minutes(15))) struct RequeueTests {
  private func command(_ mill: Mill, _ id: String, requeue offset: Int64) throws {
    let record = OperationsRecord.command(
      OperationCommand(
        id: id, item: OperationCommand.deadLetter(lane: 0, offset: offset), worker: "mill", lane: 0, action: .requeue,
        why: "mended", by: "somebody", at: mill.time.clock.wallTime))
    try mill.log.append(
      ProducerRecord(
        topic: mill.topics.operations, partition: 0, key: record.key, value: record.json.serialized()))
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `with strict order a requeued dead letter that has to wait holds nobody of its key up`(
    commit: KafkaSettings.Commit
  ) async throws {
    let mill = try Mill(lanes: 1, commit: commit) { $0.ordering = .strict }
    let handler = MillHandler(Book()) { item, journal in
      if item.id.hasPrefix("dead") {
        guard item.provenance.replay?.mode == .requeue else { throw PermanentFailure("broken", "not yet mended") }
        if item.provenance.attempt < 2 { throw RetryableFailure("still not") }
      }
      return try await MillHandler.answer(item, journal)
    }
    let process = mill.start("p", handler)
    for id in ["dead1", "dead2", "n1"] { try mill.put(id, key: "k") }
    #expect(await mill.until { mill.dead().count == 2 && mill.answered() == ["n1"] } != nil)
    try command(mill, "c1", requeue: 0)
    try command(mill, "c2", requeue: 1)
    // Of two commands for one letter the first wins.
    try command(mill, "c3", requeue: 0)
    #expect(await mill.until { mill.log.records(in: mill.topics.retries[0]).count == 2 } != nil)
    for id in ["n2", "n3"] { try mill.put(id, key: "k") }
    let wait = await mill.until(within: .seconds(60), step: .milliseconds(1)) {
      mill.answered() == ["n1", "n2", "n3"]
    }
    #expect(try #require(wait) < .seconds(2), "they waited behind it")
    #expect(await mill.until { mill.answered().count == 5 && mill.isRead() } != nil)
    #expect(Set(mill.answered().suffix(2)) == ["dead1", "dead2"])
    let ledger = try mill.ledger()
    for id in ["dead1", "dead2", "n1", "n2", "n3"] {
      guard case .done? = ledger[LedgerKey(id: id)]?.state else { Issue.record("\(id)"); continue }
    }
    #expect(ledger.tail(of: LedgerKey(hashing: Array("k".utf8))) == nil)
    await process.crash()
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce])
  func `a dead letter of a run that reapplied is reapplied when it is requeued`(commit: KafkaSettings.Commit)
    async throws
  {
    let mill = try Mill(lanes: 1, commit: commit)
    let handler = MillHandler(Book()) { item, journal in
      guard let replay = item.provenance.replay else { return try await MillHandler.answer(item, journal) }
      guard replay.mode.isRequeue else { throw PermanentFailure("broken", "worse than before") }
      // It waits on a tier in between, and is reapplied still.
      if item.attempt == 0 { throw RetryableFailure("not yet") }
      return try .emit(MillHandler.Answer(id: "corrected"))
    }
    let process = mill.start("p", handler)
    try mill.put("n1", key: "k")
    #expect(await mill.until { mill.answered() == ["n1"] } != nil)
    let reapply = OperationCommand(
      id: "r", run: "r", item: "r", worker: "mill", lane: 0,
      action: .replay(ReplayPart(topic: Mill.live, from: 0, to: 1, isReapply: true)), why: "wrong", by: "ann",
      at: mill.time.clock.wallTime)
    try mill.log.append(OperationsRecord.command(reapply).producerRecord(mill.topics.operations))
    #expect(await mill.until { mill.dead() == ["n1": "broken"] } != nil)
    try command(mill, "c1", requeue: 0)
    #expect(await mill.until { mill.answered().count == 2 && mill.isRead() } != nil)
    let events = mill.log.records(in: mill.topics.events)
    #expect(events.last?.value == Array(#"{"id":"corrected"}"#.utf8))
    #expect(events.last.map { Mill.header("ce_supersedes", of: $0) } == mill.eventIDs().first)
    let copies = mill.log.records(in: mill.topics.replay)
    #expect(copies.map { Mill.header("millrace-replay-mode", of: $0) } == ["reapply", "requeue-reapply"])
    #expect(copies.map { Mill.header("ce_replayid", of: $0) } == ["r", "c1"])
    guard case .done? = try mill.ledger()[LedgerKey(id: "n1")]?.state else {
      Issue.record("it is not done")
      return
    }
    await process.crash()
  }

  @Test func `a dead letter says how often its handler ran, the run that gave it up included`() async throws {
    let mill = try Mill(lanes: 1)
    let handler = MillHandler(Book()) { item, _ in
      if item.id == "tried", item.attempt < 2 { throw RetryableFailure("not yet") }
      if item.id == "decided" { return .deadLetter("no-use", "nobody needs it") }
      throw PermanentFailure("broken", "for good")
    }
    let process = mill.start("p", handler)
    for id in ["tried", "refused", "decided"] { try mill.put(id, key: id) }
    #expect(await mill.until { mill.dead().count == 3 && mill.isRead() } != nil)
    let letters = mill.log.records(in: mill.topics.deadLetters)
    let runs = Dictionary(letters.map { (Mill.header("ce_id", of: $0), Provenance($0).attempt) }) { $1 }
    #expect(runs == ["tried": 3, "refused": 1, "decided": 1])
    await process.crash()
  }

  @Test func `a letter without a copy is requeued from where its record first stood, and stays open once that is over`()
    async throws
  {
    let mill = try Mill(lanes: 1)
    let handler = MillHandler(Book()) { item, journal in
      guard item.isRequeued else { throw PermanentFailure("broken", String(repeating: "so ", count: 300)) }
      return try await MillHandler.answer(item, journal)
    }
    // So long that it has no room for what its letter says besides.
    let padding = ProducerRecord.limit - mill.record("n1", key: "k").bytes - 1_000
    try mill.put("n1", key: "k", padding: padding)
    try mill.put("n2", key: "k", padding: padding)
    let process = mill.start("p", handler)
    #expect(await mill.until { mill.log.records(in: mill.topics.deadLetters).count == 2 && mill.isRead() } != nil)
    #expect(mill.log.records(in: mill.topics.deadLetters).allSatisfy { $0.value == nil })
    try mill.log.trim(TopicPartition(topic: Mill.live, partition: 0), before: 1)
    try command(mill, "c1", requeue: 0)
    try command(mill, "c2", requeue: 1)
    #expect(await mill.until { mill.answered() == ["n2"] && mill.isRead() } != nil)
    func standing() -> OperationsLog.Standing? {
      mill.operations().standing(of: OperationCommand.deadLetter(lane: 0, offset: 0))
    }
    #expect(await mill.until { standing()?.failure != nil } != nil)
    #expect(standing()?.failure?.hasPrefix("the letter holds no copy, and \(Mill.live)") == true)
    // What could not be done settles nothing: the next command wins.
    let discard = OperationCommand(
      id: "c3", item: OperationCommand.deadLetter(lane: 0, offset: 0), worker: "mill", lane: 0, action: .discard,
      why: "too late", by: "bob", at: mill.time.clock.wallTime)
    try mill.log.append(OperationsRecord.command(discard).producerRecord(mill.topics.operations))
    #expect(await mill.until { standing()?.outcome == .done && standing()?.command.id == "c3" } != nil)
    await process.crash()
  }

  @Test func `what missed its deadline has none once it is requeued`() async throws {
    let mill = try Mill(lanes: 1)
    let handler = MillHandler(Book()) { item, journal in
      guard item.provenance.replay?.mode == .requeue, item.provenance.attempt > 0 else {
        throw RetryableFailure("not yet", after: .seconds(60))
      }
      return try await MillHandler.answer(item, journal)
    }
    var record = mill.record("late", key: "k")
    let deadline = mill.time.clock.wallTime + .seconds(5)
    record.headers.append(RecordHeader("millrace-deadline", String(deadline.millisecondsSince1970)))
    try mill.log.append(record)
    let process = mill.start("p", handler)
    #expect(await mill.until { mill.dead() == ["late": "deadline-missed"] } != nil)
    #expect(mill.answered().isEmpty)
    try command(mill, "c1", requeue: 0)
    #expect(await mill.until { mill.answered() == ["late"] && mill.isRead() } != nil)
    await process.crash()
  }

  @Test func `without transactions each step is in Kafka before the next begins`() async throws {
    let mill = try Mill(lanes: 1, commit: .atLeastOnce)
    mill.log.setLatency(.milliseconds(50))
    let ids = (0..<30).map { "n\($0)" }
    for id in ids { try mill.put(id, key: id) }
    let process = mill.start("p", MillHandler(Book()))
    var (sawEventsFirst, sawLedgerFirst) = (false, false)
    let isDone = await mill.until(step: .milliseconds(10)) {
      // In this order: what is asked for later knows more.
      let read = mill.log.committedOffsets(of: mill.topics.group).first { $0.partition.topic == Mill.live }?.offset ?? 0
      let ledger = try? mill.ledger()
      let answered = Set(mill.answered())
      let handled = ids.filter { ledger?[LedgerKey(id: $0)] != nil }
      #expect(answered.isSuperset(of: handled), "the ledger knew of an event that was not in Kafka")
      #expect(Int(read) <= handled.count, "an offset was committed before the ledger")
      sawEventsFirst = sawEventsFirst || answered.count > handled.count
      sawLedgerFirst = sawLedgerFirst || handled.count > Int(read)
      return Int(read) == ids.count
    }
    #expect(isDone != nil && sawEventsFirst && sawLedgerFirst)
    await process.crash()
  }
}
