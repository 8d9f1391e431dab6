// Tests the erasure of a customer, by the lanes of running processes and by the state machine alone.

import AppStore
import AppStoreSigning
import KafkaClient
import MillraceTesting
import MillraceTime
import Testing

@testable import MillraceCore
@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct ErasureTests {
  private static let table = "counts"

  /// Counts the notifications of each key in a state, a table and an event, sets a timer, and causes an effect.
  @Sendable private static func count(_ item: LaneItem, _ recorder: any EffectRecorder) async throws -> Outcome {
    let key = String(decoding: item.key, as: UTF8.self)
    if item.id.hasPrefix("dead") { throw HandlerError("broken", "for good") }
    if item.id.hasPrefix("late"), item.attempt == 0 { throw HandlerFailed("not yet") }
    if case .intended = try await recorder.begin("effect/\(item.id)", body: Array(key.utf8)) {
      try await recorder.end("effect/\(item.id)", result: Array(key.utf8))
    }
    let count = (try await recorder.state("count/\(key)")?.first ?? 0) + 1
    let results = try Outcome.Results.emitting(FleetHandler.Answer(id: item.id))
      .keeping("count/\(key)", [count], row: OutputRecord(topic: table, key: key, value: [count]))
    return .done(results).settingTimer("timer/\(item.id)", at: Timestamp(millisecondsSince1970: .max / 2))
  }

  private func secret() throws -> ErasureKey {
    try ErasureKey(secret: Array("a secret of at least 32 bytes, yes".utf8))
  }

  private func fleet(_ commit: KafkaSettings.Commit, lanes: Int = 2) throws -> WorkerFleet {
    var fleet = try WorkerFleet(lanes: lanes, commit: commit, tables: [Self.table])
    fleet.erasure.key = try secret()
    return fleet
  }

  private func put(_ id: String, key: String, signed: Timestamp, _ fleet: WorkerFleet) throws {
    var record = fleet.record(id, key: key)
    record.headers.append(RecordHeader("ce_time", signed.rfc3339))
    try fleet.log.append(record)
  }

  private func erase(_ key: String, as id: String, lanes: Int = 2, _ fleet: WorkerFleet) throws {
    let (secret, bytes) = (try secret(), Array(key.utf8))
    let command = OperationCommand(
      id: id, item: OperationCommand.erasure(of: secret.mark(of: bytes), command: id), worker: "mill",
      lane: Murmur2.partition(of: bytes, among: lanes), action: .erase(customer: try secret.seal(bytes)),
      why: "a request", by: "ann", at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(command).producerRecord(fleet.topics.operations))
  }

  private func isFinished(_ id: String, _ fleet: WorkerFleet) -> Bool {
    fleet.operations().all.values.contains { $0.command.id == id && $0.outcome == .done }
  }

  /// Returns the last value of each key of the table.
  private func rows(_ fleet: WorkerFleet) -> [String: [UInt8]?] {
    var rows: [String: [UInt8]?] = [:]
    for record in fleet.log.records(in: Self.table) {
      rows.updateValue(record.value, forKey: String(decoding: record.key ?? [], as: UTF8.self))
    }
    return rows
  }

  @Test(arguments: [KafkaSettings.Commit.transactional, .atLeastOnce], 0..<4 as Range<UInt64>)
  func `an erasure during traffic stays, after crashes too, and after a replay and a requeue`(
    commit: KafkaSettings.Commit, seed: UInt64
  ) async throws {
    var random = SeededGenerator(seed: seed)
    let fleet = try fleet(commit)
    let handler = FleetHandler(Book(), Self.count)
    var processes = (0..<2).map { fleet.start("p\($0)", handler) }
    let erasedAt = UInt64.random(in: 0..<40, using: &random)
    for number in 0..<60 as Range<UInt64> {
      if number == erasedAt { try erase("k1", as: "e", fleet) }
      let name = number % 10 == 4 ? "late" : number % 20 == 7 ? "dead" : "n"
      try put("\(name)\(number)", key: "k\(number % 3)", signed: .second(0), fleet)
      // Without transactions, a late write of a crashed process could overwrite what its successor has written.
      if commit == .transactional, Int.random(in: 0..<8, using: &random) == 0 {
        let index = Int.random(in: 0...1, using: &random)
        await processes[index].crash()
        processes[index] = fleet.start("p\(index)", handler)
      }
      for _ in 0..<Int.random(in: 0..<40, using: &random) { await Task.yield() }
      fleet.time.advance(by: .milliseconds(Int64.random(in: 0...500, using: &random)))
    }
    #expect(await fleet.until { isFinished("e", fleet) && fleet.isRead() } != nil, "seed \(seed)")
    let counts = ["k0", "k2"].map { key in
      (0..<60).filter { "k\($0 % 3)" == key && ($0 % 10 == 4 || $0 % 20 != 7) }.count
    }
    try check(fleet, k0: counts[0], k2: counts[1], seed: seed)

    // Every dead letter of the customer is discarded, so an operator's requeue comes too late.
    let letters = fleet.log.records(in: fleet.topics.deadLetters).filter { $0.key == Array("k1".utf8) }
    for letter in letters {
      let item = OperationCommand.deadLetter(lane: letter.partition, offset: letter.offset)
      guard case .discard? = fleet.operations().status(of: item)?.command.action else {
        Issue.record("seed \(seed): the dead letter \(item) is open")
        continue
      }
    }
    // Everything is sent again.
    for lane in 0..<2 as Range<Int32> {
      let end = fleet.log.records(in: WorkerFleet.live).filter { $0.partition == lane }.count
      let replay = OperationCommand(
        id: "r\(lane)", run: "r", item: "r\(lane)", worker: "mill", lane: lane,
        action: .replay(ReplayPart(topic: WorkerFleet.live, from: 0, to: Int64(end), isReapply: false)), why: "test",
        by: "ann", at: fleet.time.clock.wallTime)
      try fleet.log.append(OperationsRecord.command(replay).producerRecord(fleet.topics.operations))
    }
    #expect(await fleet.until { isFinished("r0", fleet) && isFinished("r1", fleet) && fleet.isRead() } != nil)
    try check(fleet, k0: counts[0], k2: counts[1], seed: seed)

    // A customer who comes back is a new one.
    try put("new", key: "k1", signed: fleet.time.clock.wallTime + .seconds(1), fleet)
    #expect(await fleet.until { fleet.answered().last == "new" && fleet.isRead() } != nil, "seed \(seed)")
    #expect(try fleet.ledger().state("count/k1") == [1], "seed \(seed)")
    for process in processes { await process.crash() }
  }

  private func check(_ fleet: WorkerFleet, k0: Int, k2: Int, seed: UInt64) throws {
    var ledger = try fleet.ledger()
    #expect(ledger.state("count/k1") == nil, "seed \(seed)")
    let names = ledger.searchErased([Array("k1".utf8)]).names()
    #expect(ledger.entries(erasing: [Array("k1".utf8)], found: names).isEmpty, "seed \(seed)")
    #expect(ledger.state("count/k0") == [UInt8(k0)] && ledger.state("count/k2") == [UInt8(k2)], "seed \(seed)")
    #expect(rows(fleet)["k1"] == .some(nil), "seed \(seed)")
    let events = fleet.log.records(in: fleet.topics.events).filter { $0.key == Array("k1".utf8) }
    #expect(events.last.map { WorkerFleet.header("ce_type", of: $0) } == "dev.millrace.mill.customer.erased")
    for record in fleet.log.records(in: fleet.topics.operations) {
      let text = String(decoding: (record.key ?? []) + (record.value ?? []), as: UTF8.self)
      #expect(!text.contains("k1"), "the customer is readable in a command")
    }
  }

  /// Makes a dead letter of a customer. Its process is gone afterwards.
  private func deadLetter(of key: String, _ fleet: WorkerFleet) async throws -> (item: String, offset: Int64) {
    try put("dead1", key: key, signed: .second(0), fleet)
    let process = fleet.start("p", FleetHandler(Book(), Self.count))
    #expect(await fleet.until { !fleet.log.records(in: fleet.topics.deadLetters).isEmpty } != nil)
    await process.crash()
    let offset = try #require(fleet.log.records(in: fleet.topics.deadLetters).first).offset
    return (OperationCommand.deadLetter(lane: 0, offset: offset), offset)
  }

  @Test func `an erasure discards a dead letter that an operator has told the worker to retry`() async throws {
    let fleet = try fleet(.transactional, lanes: 1)
    let item = try await deadLetter(of: "k1", fleet).item
    let retry = OperationCommand(
      id: "r", item: item, worker: "mill", lane: 0, action: .requeue, why: "mended", by: "bob",
      at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(retry).producerRecord(fleet.topics.operations))
    try erase("k1", as: "e", lanes: 1, fleet)
    let next = fleet.start("p", FleetHandler(Book(), Self.count))
    #expect(await fleet.until { isFinished("e", fleet) } != nil)
    let results = fleet.log.records(in: fleet.topics.operations).compactMap { record -> OperationResult? in
      if case .result(let result)? = OperationsRecord(record) { result } else { nil }
    }
    #expect(results.first { $0.command == "r" }?.outcome == .failed("the customer was erased"))
    let status = fleet.operations().status(of: item)
    #expect(status?.command.action == .discard && status?.outcome == .done)
    #expect(fleet.log.records(in: fleet.topics.replay).isEmpty)
    await next.crash()
  }

  @Test func `an erasure that was interrupted between a discard and its result ends`() async throws {
    let fleet = try fleet(.atLeastOnce, lanes: 1)
    let (item, offset) = try await deadLetter(of: "k1", fleet)
    try erase("k1", as: "e", lanes: 1, fleet)
    let discard = OperationCommand(
      id: "e/\(offset)", item: item, worker: "mill", lane: 0, action: .discard, why: "the customer was erased",
      by: "ann", at: fleet.time.clock.wallTime)
    try fleet.log.append(OperationsRecord.command(discard).producerRecord(fleet.topics.operations))
    let next = fleet.start("p", FleetHandler(Book(), Self.count))
    #expect(await fleet.until { isFinished("e", fleet) } != nil)
    #expect(fleet.operations().status(of: item)?.outcome == .done)
    #expect(fleet.log.records(in: fleet.topics.operations).count < 10)
    await next.crash()
  }

  @Test func `a worker without the secret refuses the command, and does not start where customers were erased`()
    async throws
  {
    var fleet = try fleet(.transactional, lanes: 1)
    let process = fleet.start("p", FleetHandler(Book(), Self.count))
    try erase("k", as: "e", lanes: 1, fleet)
    #expect(await fleet.until { isFinished("e", fleet) } != nil)
    await process.crash()
    fleet.erasure = ErasureRules()
    let other = fleet.start("q", isKept: false, FleetHandler(Book(), Self.count))
    let end = await fleet.end(of: other)
    #expect("\(try #require(end?.error))".contains("privacy.keyFile"))
    let empty = try WorkerFleet(lanes: 1)
    let third = empty.start("p", FleetHandler(Book(), Self.count))
    try erase("k", as: "e", lanes: 1, empty)
    let isRefused = await empty.until {
      empty.operations().all.values.contains { $0.failure?.contains("keyFile") == true }
    }
    #expect(isRefused != nil)
    await third.crash()
  }

  // MARK: - The state machine

  @Test func `the outcome and the effect of a run are dropped if the customer is erased meanwhile`() throws {
    var rig = LaneRig()
    rig.erasure.key = try secret()
    rig.produce("a", key: "k")
    rig.produce("b", key: "k")
    rig.readAll()
    let job = try rig.job()
    rig.change { _ = $0.beginEffect("e", body: [1], of: job.number, receipt: WriteReceipt(), now: .second(0)) }
    try rig.commitAll()
    try erase(&rig, "k", at: .second(5))
    #expect(rig.state.isWithdrawn(job.number))
    rig.change { $0.endEffect("e", result: [9]) }
    rig.end(job, .decided(.done(.keeping("s", [1])).settingTimer("t", at: .second(9))))
    try rig.commitAll()
    #expect(rig.takeJob() == nil, "the next record of the customer is skipped")
    #expect(rig.log.durable.state("s") == nil && rig.log.durable.timer("t") == nil)
    #expect(rig.log.durable.effect("e") == Effect(intendedAt: .second(0), progress: .ended(result: [])))
    #expect(rig.isIdle)
    rig.restart()
    rig.produce("c", key: "k")
    rig.readAll()
    #expect(rig.takeJob() == nil, "the mark is in Kafka")
  }

  @Test func `a newer notification that runs during the erasure runs again, and a repeated command erases nothing`()
    throws
  {
    var rig = LaneRig()
    rig.erasure.key = try secret()
    let signed = RecordHeader("ce_time", Timestamp.second(6).rfc3339)
    rig.log.append(LaneRig.record("new", key: "k", [signed]), at: rig.now)
    rig.readAll()
    let first = try rig.job()
    try erase(&rig, "k", at: .second(5))
    rig.end(first, .decided(.done(.keeping("s", [1]))))
    try rig.commitAll()
    #expect(rig.log.durable.state("s") == nil)
    let second = try rig.job()
    #expect(second.item?.id == "new")
    rig.end(second, .decided(.done(.keeping("s", [2]))))
    try rig.commitAll()
    #expect(rig.log.durable.state("s") == [2])
    try erase(&rig, "k", at: .second(5))
    #expect(rig.log.durable.state("s") == [2])
    try erase(&rig, "k", at: .second(7))
    #expect(rig.log.durable.state("s") == nil && rig.isIdle)
  }

  @Test func `what is not a notification never brings a customer back, and a newer notification only if allowed`()
    throws
  {
    for accepts in [true, false] {
      var rig = LaneRig()
      rig.erasure.key = try secret()
      rig.erasure.acceptsNewNotifications = accepts
      try erase(&rig, "k", at: .second(5))
      func header(_ seconds: Int64) -> RecordHeader { RecordHeader("ce_time", Timestamp.second(seconds).rfc3339) }
      rig.log.append(LaneRig.record("old", key: "k", [header(5)]), at: rig.now)
      rig.log.append(
        LaneRig.record("import", key: "k", [RecordHeader("ce_type", "dev.millrace.request.IMPORT"), header(9)]),
        at: rig.now)
      rig.log.append(LaneRig.record("new", key: "k", [header(6)]), at: rig.now)
      rig.log.append(LaneRig.record("other", key: "l", [header(1)]), at: rig.now)
      rig.readAll()
      var handled: [String] = []
      while let job = rig.takeJob() {
        handled.append(job.item?.id ?? "")
        rig.end(job, .decided(.ignore))
      }
      #expect(handled.sorted() == (accepts ? ["new", "other"] : ["other"]))
    }
  }

  private func erase(_ rig: inout LaneRig, _ key: String, at time: Timestamp) throws {
    let secret = try secret()
    let bytes = Array(key.utf8)
    let customer = ErasedCustomer(
      key: bytes, mark: LedgerKey(prefixOf: secret.mark(of: bytes)),
      erasure: Erasure(at: time, fingerprint: secret.fingerprint), records: { _ in [] })
    rig.change { state in
      state.erase([customer], found: state.searchErased([customer]).names(), receipt: WriteReceipt())
    }
    try rig.commitAll()
  }

  // MARK: - The secret

  @Test func `a secret opens what it has sealed, and nothing else`() throws {
    let (one, other) = (try secret(), try ErasureKey(secret: Array("another secret of at least 32 byte".utf8)))
    let key = Array("2000000123450000".utf8)
    let sealed = try one.seal(key)
    #expect(one.open(sealed) == key && other.open(sealed) == nil)
    #expect(try one.seal(key) != sealed)
    #expect(one.open("") == nil && one.open("zz") == nil && one.open(String(sealed.dropLast(2))) == nil)
    #expect(one.mark(of: key) == one.mark(of: key) && one.mark(of: key) != other.mark(of: key))
    #expect(one.mark(of: key).count == LedgerKey.byteCount && one.fingerprint != other.fingerprint)
    let error = #expect(throws: MillraceError.self) { try ErasureKey(secret: [1, 2, 3]) }
    #expect("\(try #require(error))".contains("privacy.keyFile"))
  }

  @Test func `a command to erase is read back as it was written`() throws {
    let command = OperationCommand(
      id: "c", item: OperationCommand.erasure(of: [1, 255], command: "c"), worker: "mill", lane: 3,
      action: .erase(customer: "00ff"), why: "w", by: "b", at: .second(1))
    #expect(OperationsRecord(OperationsRecord.command(command).json) == .command(command))
    #expect(command.erasedMark == [1, 255] && command.item == "erasures/01ff/c")
  }
}
