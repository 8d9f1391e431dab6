// Tests the decisions of a lane one by one.

import AppStore
import KafkaClient
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite struct LaneStateTests {
  private struct Answered: WorkerEvent {
    static let eventName = "answered"
    var id: String
  }

  private static let done = HandlerResult.decided((try? .emit(Answered(id: "a"))) ?? .ignore)
  private static let failed = HandlerResult.failed(.retryBySchedule, reason: "handler-error", detail: "not yet")

  /// A lane that has read these notifications, each with its own key.
  private func rig(reading ids: String..., change: (inout WorkerPolicy) -> Void = { _ in }) -> LaneRig {
    var rig = LaneRig(change)
    for id in ids { rig.produce(id, key: id) }
    rig.readAll()
    return rig
  }

  private func isDone(_ id: String, _ rig: LaneRig) -> Bool {
    if case .done? = rig.log.durable[LedgerKey(id: id)]?.state { true } else { false }
  }

  private func offsets(_ rig: LaneRig) -> Int64? { rig.log.committed[LaneRig.live]?.offset }

  @Test func `an outcome, its ledger entry and the offset are one commit`() throws {
    var rig = rig(reading: "a", "b")
    let first = try rig.job()
    let second = try rig.job()
    rig.end(second, Self.done)
    try rig.commitAll()
    #expect(rig.events.count == 1 && offsets(rig) == 0, "the first record is not finished")
    rig.end(first, Self.done)
    #expect(rig.log.durable[LedgerKey(id: "a")] == nil)
    try rig.commitAll()
    #expect(rig.events.count == 2 && offsets(rig) == 2 && isDone("a", rig))
    #expect(rig.isIdle)
  }

  // The entry of a record, or of the timer that fired, was written first. A process that was killed before the others
  // lost them.
  @Test(arguments: [1, 2])
  func `without transactions, what has ended in the ledger has its timers, states and counts`(records: Int) throws {
    let result = Outcome.Results.keeping("state", [1]).counting("count")
    let setting = HandlerResult.decided(Outcome(.done(result)).settingTimer("first", at: .second(60), payload: []))
    for steps in 0... as PartialRangeFrom<Int> {
      var rig = LaneRig(mode: .atLeastOnce)
      for id in 0..<records { rig.produce("\(id)", key: "k") }
      rig.readAll()
      for _ in 0..<records { rig.end(try rig.job(), setting) }
      let isComplete = try rig.commit(.crash(steps: steps))
      check(!isComplete)
      let ledger = rig.log.durable
      let ended = (0..<records).filter { isDone("\($0)", rig) }.count
      if ended > 0 {
        #expect(ledger.timer("first") != nil && ledger.state("state") == [1], "\(steps) steps")
        #expect(ledger.counter("count") >= ended, "\(steps) steps")
      }
      if ended == records { break }
    }
    let next = Outcome(.done(result)).settingTimer("second", at: .second(120), payload: [])
    for outcome in [next, next.settingTimer("first", at: .second(180), payload: [])] {
      for steps in 0... as PartialRangeFrom<Int> {
        var rig = LaneRig(mode: .atLeastOnce)
        rig.produce("0", key: "k")
        rig.readAll()
        let first = Outcome(.done(Outcome.Results())).settingTimer("first", at: .second(60), payload: [])
        rig.end(try rig.job(), .decided(first))
        try rig.commitAll()
        rig.passTime(60)
        rig.end(try rig.job(), .decided(outcome))
        _ = try rig.commit(.crash(steps: steps))
        let ledger = rig.log.durable
        if ledger.timer("first")?.at == .second(60) { continue }
        #expect(ledger.timer("second") != nil && ledger.state("state") == [1] && ledger.counter("count") == 1)
        break
      }
    }
  }

  @Test func `an aborted commit is written again without a handler run`() throws {
    var rig = rig(reading: "a")
    rig.end(try rig.job(), Self.done)
    check(try rig.commit(.aborted))
    #expect(rig.events.isEmpty && rig.jobs.isEmpty)
    try rig.commitAll()
    #expect(rig.events.count == 1 && rig.isIdle)
  }

  @Test func `a notification that was handled is skipped`() throws {
    var rig = rig(reading: "a")
    rig.end(try rig.job(), Self.done)
    rig.produce("a", key: "a")
    rig.readAll()
    check(rig.takeJob() == nil, "known before its commit")
    try rig.commitAll()
    rig.restart()
    rig.produce("a", key: "a")
    rig.readAll()
    check(rig.takeJob() == nil, "known from the ledger")
    try rig.commitAll()
    #expect(rig.events.count == 1 && offsets(rig) == 3)
  }

  @Test func `records of one key run one at a time and in order`() throws {
    var rig = LaneRig()
    for id in ["a", "b"] { rig.produce(id, key: "k") }
    rig.readAll()
    let first = try rig.job()
    check(first.item?.id == "a" && rig.takeJob() == nil)
    rig.end(first, Self.done)
    check(rig.takeJob()?.item?.id == "b", "it does not wait for the commit of the first")
  }

  @Test func `a failed record waits on its retry topic until it is due`() throws {
    var rig = rig(reading: "a")
    rig.end(try rig.job(), Self.failed)
    try rig.commitAll()
    #expect(rig.log.end(of: rig.topics.retries[0]) == 1 && offsets(rig) == 1)
    rig.readAll()
    check(rig.passTime(9) == rig.now + .seconds(1), "the next time is its due time")
    check(rig.takeJob() == nil)
    rig.passTime(1)
    check(rig.takeJob()?.item?.attempt == 1)
  }

  @Test func `a full lane takes no record until one is decided`() throws {
    var rig = rig(reading: "a", "b") { ($0.recordsInFlight, $0.parallelism) = (2, 2) }
    #expect(!rig.state.hasRoom(for: .live))
    rig.end(try rig.job(), Self.done)
    #expect(rig.state.hasRoom(for: .live), "handlers go on while outcomes wait for their commit")
  }

  @Test(arguments: [(records: 4, bytes: 1_000_000, decided: 8), (records: 12, bytes: 3_000, decided: 3)])
  func `a lane takes no record while many outcomes, or large ones, wait for their commit`(
    records: Int, bytes: Int, decided: Int
  ) throws {
    var rig = LaneRig { ($0.recordsInFlight, $0.bytesInFlight, $0.parallelism) = (records, bytes, 1) }
    let id = String(repeating: "n", count: 1_000)
    for number in 0..<20 { rig.produce("\(id)\(number)", key: "\(number)") }
    var ended = 0
    for _ in 0..<40 {
      rig.read(LaneRig.live)
      guard let job = rig.takeJob() else { continue }
      // The delayed copy has the bytes of the record.
      rig.end(job, Self.failed)
      ended += 1
    }
    #expect(ended == decided && !rig.state.hasRoom(for: .live))
    _ = try rig.commit()
    #expect(rig.state.hasRoom(for: .live))
  }

  @Test func `a timer fires once, and again after the shortest delay if its handler fails`() throws {
    var rig = rig(reading: "a")
    rig.end(try rig.job(), .decided(.ignore.settingTimer("t", at: rig.now + .seconds(5))))
    try rig.commitAll()
    check(rig.passTime(4) == rig.now + .seconds(1) && rig.takeJob() == nil)
    rig.passTime(1)
    rig.end(try rig.job(), Self.failed)
    try rig.commitAll()
    rig.passTime(9)
    check(rig.takeJob() == nil)
    rig.passTime(1)
    rig.end(try rig.job(), Self.done)
    try rig.commitAll()
    rig.passTime(60)
    check(rig.takeJob() == nil && rig.events.count == 1 && rig.log.durable.timers.isEmpty)
  }

  @Test func `a timer that fails waits longer each time, across restarts, and then becomes a dead letter`() throws {
    var rig = rig(reading: "a")
    let due = rig.now + .seconds(5)
    rig.end(try rig.job(), .decided(.ignore.settingTimer("t", at: due, payload: [7])))
    try rig.commitAll()
    rig.passTime(5)
    for (attempt, delay) in [Int64(10), 60, 600, 600, 600].enumerated() {
      rig.end(try rig.job(), Self.failed)
      try rig.commitAll()
      if attempt.isMultiple(of: 2) { rig.restart() }
      rig.passTime(delay - 1)
      check(rig.takeJob() == nil, "attempt \(attempt)")
      rig.passTime(1)
    }
    rig.end(try rig.job(), Self.failed)
    try rig.commitAll()
    rig.passTime(86_400)
    check(rig.takeJob() == nil && rig.log.durable.timers.isEmpty)
    let letter = try #require(rig.deadLetters.first)
    #expect(WorkerFleet.header("millrace-reason", of: letter) == "attempts-exhausted")
    #expect(
      WorkerFleet.header("millrace-detail", of: letter) == "tried 6 times; last: handler-error: not yet")
    #expect(NamedTimer(letter) == NamedTimer("t", LaneTimer(at: due, key: Array("a".utf8), payload: [7])))
  }

  @Test func `a timer whose outcome is a retry fires again after the delay that it asks for`() throws {
    var rig = rig(reading: "a")
    rig.end(try rig.job(), .decided(.ignore.settingTimer("t", at: rig.now)))
    try rig.commitAll()
    rig.passTime(0)
    rig.end(try rig.job(), .decided(.retry(after: .seconds(100), because: "not-yet")))
    try rig.commitAll()
    rig.passTime(99)
    check(rig.takeJob() == nil)
    rig.passTime(1)
    rig.end(try rig.job(), .failed(.retryAt(rig.now + .seconds(30)), reason: "apple", detail: ""))
    try rig.commitAll()
    rig.passTime(29)
    check(rig.takeJob() == nil)
    rig.passTime(1)
    rig.end(try rig.job(), Self.done)
    try rig.commitAll()
    check(rig.log.durable.timers.isEmpty && rig.isIdle)
  }

  @Test func `a timer that is set again while it fails begins anew`() throws {
    var rig = LaneRig()
    for id in ["a", "b"] { rig.produce(id, key: id) }
    rig.readAll()
    rig.end(try rig.job(), .decided(.ignore.settingTimer("t", at: rig.now + .seconds(1))))
    try rig.commitAll()
    let other = try rig.job()
    rig.passTime(1)
    let timer = try rig.job()
    let again = rig.now + .seconds(3)
    rig.end(other, .decided(.ignore.settingTimer("t", at: again)))
    rig.end(timer, Self.failed)
    try rig.commitAll()
    #expect(rig.log.durable.timer("t") == LaneTimer(at: again, key: Array("b".utf8), payload: []))
    rig.passTime(3)
    rig.end(try rig.job(), Self.done)
    try rig.commitAll()
    check(rig.log.durable.timers.isEmpty && rig.isIdle)
  }

  @Test func `a timer that waits for Apple's rate limit fires when its turn comes`() throws {
    var rig = rig(reading: "a")
    rig.end(try rig.job(), .decided(.ignore.settingTimer("t", at: rig.now + .seconds(5))))
    try rig.commitAll()
    rig.passTime(5)
    let turn = rig.now + .seconds(3)
    rig.end(try rig.job(), .failed(.wait(until: turn), reason: "waits-for-apple", detail: ""))
    check(rig.passTime(2) == turn && rig.takeJob() == nil)
    rig.passTime(1)
    rig.end(try rig.job(), Self.done)
    try rig.commitAll()
    check(rig.log.durable.timers.isEmpty)
  }

  @Test func `a timer fires only after the write that set it is committed`() throws {
    var rig = rig(reading: "a")
    rig.end(try rig.job(), .decided(.ignore.settingTimer("t", at: rig.now)))
    rig.passTime(1)
    check(rig.takeJob() == nil)
    try rig.commitAll()
    rig.passTime(0)
    rig.end(try rig.job(), Self.done)
  }

  @Test func `an undeclared topic ends the worker and leaves the record`() throws {
    var rig = rig(reading: "a")
    rig.end(
      try rig.job(), .decided(.ignore.writing(OutputRecord(topic: "elsewhere", key: "k", value: nil))))
    #expect(rig.faults.count == 1)
    try rig.commitAll()
    #expect(rig.log.durable[LedgerKey(id: "a")] == nil && offsets(rig) ?? 0 == 0)
  }

  @Test(arguments: ["customer.erased", "crm.customer.erased"])
  func `no outcome publishes the event of an erasure`(name: String) throws {
    var rig = rig(reading: "a")
    let isReserved = name == "customer.erased"
    var results = Outcome.Results()
    results.events = [EncodedEvent(name: name, data: Array("{}".utf8))]
    rig.end(try rig.job(), .decided(.done(results)))
    try rig.commitAll()
    #expect(rig.events.count == (isReserved ? 0 : 1))
    let reasons = rig.deadLetters.map { WorkerFleet.header("millrace-reason", of: $0) }
    #expect(reasons == (isReserved ? ["name-reserved"] : []))
  }

  @Test(arguments: ["millrace/ledger/1", "orders/millrace/"])
  func `no outcome counts with a name of the ledger's own`(name: String) throws {
    var rig = rig(reading: "a")
    let isReserved = name.hasPrefix("millrace/")
    rig.end(try rig.job(), .decided(.done(.counting(name))))
    try rig.commitAll()
    let reasons = rig.deadLetters.map { WorkerFleet.header("millrace-reason", of: $0) }
    #expect(reasons == (isReserved ? ["name-reserved"] : []))
  }

  @Test func `the end of a topic is committed once no record of it is in flight`() throws {
    var rig = rig(reading: "a")
    let job = try rig.job()
    // The end mark of a transaction has the offset 1.
    rig.change { $0.reachedEnd(of: LaneRig.live, at: 2) }
    try rig.commitAll()
    #expect(offsets(rig) ?? 0 == 0, "the record before it is running")
    rig.end(job, Self.done)
    try rig.commitAll()
    #expect(offsets(rig) == 2)
    rig.change { $0.reachedEnd(of: LaneRig.live, at: 3) }
    try rig.commitAll()
    #expect(offsets(rig) == 3, "also without an outcome")
    rig.change { $0.reachedEnd(of: LaneRig.live, at: 2) }
    try rig.commitAll()
    #expect(offsets(rig) == 3, "an old end has no effect")
    let progress = rig.state.progress(now: rig.now).sources[LaneRig.live]
    #expect(progress?.read == 3 && progress?.committed == 3)
  }

  @Test func `the end of a topic that is reached during the last commit is committed after it`() throws {
    var rig = rig(reading: "a")
    rig.end(try rig.job(), Self.done)
    _ = try rig.commit { $0.reachedEnd(of: LaneRig.live, at: 2) }
    #expect(offsets(rig) == 1)
    _ = try rig.commit()
    #expect(offsets(rig) == 2 && rig.isIdle)
  }

  @Test func `a later phase never gives way to an earlier one`() {
    for (first, second) in [
      (LaneState.Phase.draining, LaneState.Phase.running), (.handedBack, .draining), (.stopped, .handedBack),
    ] {
      var rig = rig(reading: "a")
      rig.change { $0.enter(first) }
      rig.change { $0.enter(second) }
      #expect(rig.state.phase == first)
    }
  }

  @Test(arguments: [LaneState.Phase.draining, .handedBack, .stopped])
  func `what each phase still does`(phase: LaneState.Phase) throws {
    var rig = rig(reading: "a", "b") { $0.parallelism = 1 }
    let job = try rig.job()
    rig.change { $0.enter(phase) }
    rig.end(job, Self.done)
    check(rig.takeJob() == nil, "nothing starts")
    _ = try rig.commit()
    #expect(rig.events.count == (phase == .draining ? 1 : 0), "only a draining lane counts outcomes")
    #expect((rig.state.seal([], pageNumber: 1, now: rig.now) == nil) == (phase == .stopped))
  }

  @Test func `offsets name the running records until the end is marked`() throws {
    var rig = rig(reading: "a")
    _ = try rig.job()
    func metadata(_ state: LaneState) -> [String] {
      state.seal([], pageNumber: 1, now: .second(0))?.offsets.filter { $0.partition.topic == LaneRig.live }
        .map(\.metadata) ?? []
    }
    let running = try #require(metadata(rig.state).first.flatMap { PoisonMark($0) })
    #expect(running.inFlight == [0])
    rig.change { $0.markEnd(WriteReceipt()) }
    #expect(metadata(rig.state).map { PoisonMark($0) } == [nil])
  }

  @Test func `a run that waits for Apple makes way for another`() throws {
    var rig = rig(reading: "a", "b") { $0.parallelism = 1 }
    let job = try rig.job()
    check(rig.takeJob() == nil)
    rig.change { state in check(state.beginWaiting(job.number, isFirst: true, now: .second(0))) }
    check(rig.takeJob()?.item?.id == "b")
    #expect(rig.state.rest(now: rig.now).waits == 1)
    rig.change { $0.endWaiting(of: job.number) }
    #expect(rig.state.rest(now: rig.now).waits == 0)
  }

  @Test func `an effect is sent again with the body of its intent after a crash`() throws {
    var rig = rig(reading: "a")
    let job = try rig.job()
    let receipt = WriteReceipt()
    rig.change { _ = $0.beginEffect("e", body: [1], of: job.number, receipt: receipt, now: .second(0)) }
    #expect(receipt.settled == nil)
    try rig.commitAll()
    #expect(receipt.settled == .committed)
    rig.restart()
    rig.readAll()
    let again = try rig.job()
    rig.change { state in
      let step = state.beginEffect("e", body: [2], of: again.number, receipt: WriteReceipt(), now: .second(9))
      #expect(step == .perform(body: [1], intendedAt: .second(0)))
      state.endEffect("e", result: [3])
    }
    try rig.commitAll()
    rig.restart()
    rig.change { state in
      check(
        state.beginEffect("e", body: [4], of: 0, receipt: WriteReceipt(), now: .second(9)) == .ended(result: [3]))
    }
  }
}
