// Runs whole lanes by random schedules: arrivals, duplicates, replays, requeues, failures, timers, effects, aborts and
// crashes. The tests assert the promises of the worker during and after each run.

import AppStore
import AppStoreSigning
import KafkaClient
import Testing

@testable import MillraceRecords
@testable import MillraceWorker

@Suite(.timeLimit(.minutes(15))) struct LanePropertyTests {
  struct World: Sendable, CustomTestStringConvertible {
    var isStrict: Bool
    var mode: CommitProtocol.Mode
    var testDescription: String { "\(isStrict ? "strict" : "free"), \(mode)" }
  }

  static let worlds = [true, false].flatMap { strict in
    [CommitProtocol.Mode.transactional, .atLeastOnce].map { World(isStrict: strict, mode: $0) }
  }

  @Test(arguments: worlds, 0..<60 as Range<UInt64>)
  func `no record is lost, repeated, early or out of order, for any schedule`(world: World, seed: UInt64) throws {
    var run = LaneRun(world, seed: seed)
    try run.run()
    try run.checkEnd()
  }
}

/// One random schedule.
private struct LaneRun {
  /// A handler run in progress.
  struct Run {
    var job: LaneJob
    var began: Timestamp
    var effect: String?
    /// Settled when the intent is committed.
    var receipt: WriteReceipt?
    /// The body of the call, once the intent is in Kafka.
    var body: [UInt8]?
    var isCalled = false
  }

  struct Answered: WorkerEvent {
    static let eventName = "answered"
    var id: String
    var version: Int
  }

  let world: LanePropertyTests.World
  let seed: UInt64
  var random: SeededGenerator
  var rig: LaneRig
  var runs: [UInt64: Run] = [:]
  /// The positions whose handlers ran since the lane started.
  var ran: Set<SourcePosition> = []
  var calls: [String: [[UInt8]]] = [:]
  var produced = 0
  var version = 1
  var replays = 0

  init(_ world: LanePropertyTests.World, seed: UInt64) {
    self.world = world
    self.seed = seed
    random = SeededGenerator(seed: seed)
    rig = LaneRig(seed: seed, mode: world.mode) { if world.isStrict { $0.ordering = .strict } }
  }

  static func name(_ id: Int) -> String { "n\(id)" }
  static func key(of id: Int) -> String { "k\((id &* 7) % 5)" }

  mutating func run() throws {
    let busySteps = 700
    for step in 0..<60_000 {
      let isBusy = step < busySteps
      if !isBusy, step.isMultiple(of: 50), rig.isIdle, runs.isEmpty, rig.log.durable.timers.isEmpty { return }
      check(step < 59_999, "seed \(seed): no end")
      switch Int.random(in: 0..<24, using: &random) {
      case 0...1 where isBusy: produce()
      case 2 where isBusy && produced > 0: sendAgain()
      case 3: rig.passTime(Int64.random(in: 0...(isBusy ? 15 : 60), using: &random))
      case 4..<9: rig.topics.sources.randomElement(using: &random).map { rig.read($0) }
      case 9, 10: rig.passTime()
      case 11..<15: start()
      case 15..<20: handle(mayFail: isBusy)
      case 20, 21: try commit(isBusy: isBusy)
      case 22 where isBusy && Int.random(in: 0..<10, using: &random) == 0: restart()
      case 23 where isBusy && Int.random(in: 0..<20, using: &random) == 0: version += 1
      default: break
      }
    }
  }

  private mutating func restart() {
    rig.restart(isSameProcess: Bool.random(using: &random))
    (runs, ran) = ([:], [])
  }

  private mutating func produce() {
    let isDuplicate = produced > 0 && Int.random(in: 0..<5, using: &random) == 0
    let id = isDuplicate ? Int.random(in: 0..<produced, using: &random) : produced
    if !isDuplicate { produced += 1 }
    rig.produce(Self.name(id), key: Self.key(of: id))
  }

  /// Sends an earlier notification again, as an operator does: a plain replay, a reapply or a requeue.
  private mutating func sendAgain() {
    replays += 1
    let letter = Bool.random(using: &random) ? rig.deadLetters.randomElement(using: &random) : nil
    if let letter {
      let history = DeliveryHistory(letter)
      return sendAgain(
        letter.key ?? [], DeliveryHistory.original(letter.headers), history,
        history.reapplies ? .requeueReapply : .requeue)
    }
    let id = Int.random(in: 0..<produced, using: &random)
    // A notification that was never handled is not replayed, because it would overtake live records.
    guard rig.log.durable[LedgerKey(id: Self.name(id))] != nil,
      let record = rig.log.records[LaneRig.live]?.first(where: { $0.value == Array(Self.name(id).utf8) })
    else { return }
    sendAgain(
      record.key ?? [], record.headers, DeliveryHistory(record), Bool.random(using: &random) ? .plain : .reapply)
  }

  private mutating func sendAgain(
    _ key: [UInt8], _ headers: [RecordHeader], _ history: DeliveryHistory, _ mode: DeliveryHistory.ReplayMode
  ) {
    var history = history
    history.replay = DeliveryHistory.Replay(id: "r\(replays)", mode: mode, why: nil)
    (history.attempt, history.due, history.delayedAt) = (0, nil, nil)
    let id = headers.first { $0.name == "ce_id" }?.value ?? []
    let own = headers.filter { !$0.name.hasPrefix("millrace-") }
    rig.log.append(
      ProducerRecord(topic: rig.topics.replay, key: key, value: id, headers: own + history.headers), at: rig.now)
  }

  // MARK: - Handlers

  private mutating func start() {
    guard let job = rig.takeJob() else { return }
    var run = Run(job: job, began: rig.now)
    defer { runs[job.number] = run }
    guard let item = job.item else { return }
    check(item.awaited.map { $0 <= rig.now } ?? true, "seed \(seed): \(item.id) ran early")
    if item.attempt == item.history.attempt, !item.isRequeued {
      check(ran.insert(item.position).inserted, "seed \(seed): \(item.id) ran twice in one ownership")
    }
    check(
      !runs.values.contains { $0.job.item?.key == item.key }, "seed \(seed): two records of one key ran at once")
    // Without transactions a crash can separate a notification's entry from its key's chain and break the order.
    if world.isStrict, world.mode == .transactional, !item.isReapplied, !item.isRequeued { checkOrder(of: item) }
    guard let id = Int(item.id.dropFirst()), id.isMultiple(of: 3) else { return }
    let receipt = WriteReceipt()
    let name = "effect/\(item.id)"
    rig.change { [now = rig.now, seed] state in
      let body = Array("\(item.id)@\(now)".utf8)
      switch state.beginEffect(name, body: body, of: run.job.number, receipt: receipt, now: now) {
      case .write: (run.effect, run.receipt) = (name, receipt)
      case .perform(let body, _): (run.effect, run.body) = (name, body)
      case .ended: break
      case .busy: Issue.record("seed \(seed): two handlers perform \(name)")
      }
    }
  }

  /// Checks that with strict ordering all earlier records of the key are done or dead.
  private func checkOrder(of item: LaneItem) {
    guard let id = Int(item.id.dropFirst()) else { return }
    for earlier in 0..<id where Self.key(of: earlier) == Self.key(of: id) {
      switch rig.state.ledger[LedgerKey(id: Self.name(earlier))]?.state {
      case .done, .dead, .delayed(_, nil): continue
      case .delayed, nil: Issue.record("seed \(seed): \(item.id) ran before \(earlier), which is not resolved")
      }
    }
  }

  /// Performs the next step of a handler: a call or an outcome.
  private mutating func handle(mayFail: Bool) {
    guard let number = runs.keys.sorted().randomElement(using: &random), var run = runs[number] else { return }
    if let effect = run.effect, !run.isCalled {
      if run.body == nil, run.receipt?.settled == .committed,
        case .intended(let body)? = rig.state.ledger.effect(effect)?.progress
      {
        run.body = body
      }
      guard let body = run.body else { return }
      check(!isEnded(effect), "seed \(seed): \(effect) was caused again after it had ended")
      calls[effect, default: []].append(body)
      run.isCalled = true
      runs[number] = run
      return
    }
    runs[number] = nil
    let chance = mayFail ? Int.random(in: 0..<10, using: &random) : 9
    var open: Set<String> = []
    if let effect = run.effect {
      if chance < 3 { open = [effect] } else { rig.change { $0.endEffect(effect, result: [1]) } }
    }
    rig.end(run.job, result(of: run, chance), open: open, began: run.began)
  }

  private func isEnded(_ effect: String) -> Bool {
    if case .ended? = rig.log.durable.effect(effect)?.progress { true } else { false }
  }

  private mutating func result(of run: Run, _ chance: Int) -> HandlerResult {
    guard let item = run.job.item else {
      return chance < 3 ? failed : .decided((try? .emit(Answered(id: "timer", version: version))) ?? .ignore)
    }
    switch chance {
    case 0, 1: return failed
    case 2: return .decided(.retry(after: .seconds(Int64.random(in: 0...130, using: &random)), because: "not-yet"))
    case 3: return .decided(.deadLetter("broken", "for good"))
    default:
      let outcome = (try? Outcome.emit(Answered(id: item.id, version: version))) ?? .ignore
      guard let id = Int(item.id.dropFirst()), id % 4 == 1 else { return .decided(outcome) }
      return .decided(outcome.settingTimer("timer/\(item.id)/\(version)", at: rig.now + .seconds(5)))
    }
  }

  private var failed: HandlerResult { .failed(.retryBySchedule, reason: "handler-error", detail: "not yet") }

  // MARK: - Commits

  private mutating func commit(isBusy: Bool) throws {
    let fate: LaneRig.Fate =
      switch isBusy ? Int.random(in: 0..<10, using: &random) : 9 {
      case 0, 1: .aborted
      case 2: .crash(steps: Bool.random(using: &random) ? .max : Int.random(in: 0..<12, using: &random))
      default: .committed
      }
    let before = rig.log.committed
    let isAlive = try rig.commit(fate)
    checkOffsets(since: before)
    if !isAlive { restart() }
  }

  /// Checks that an offset is committed only after all records below it have a ledger entry.
  private func checkOffsets(since before: [String: CommittedOffset]) {
    for (topic, committed) in rig.log.committed {
      let earlier = before[topic]?.offset ?? 0
      check(committed.offset >= earlier, "seed \(seed): \(topic) went back")
      let records = rig.log.records[topic] ?? []
      for item in LaneItem.batch(Array(records.prefix(Int(committed.offset)).dropFirst(Int(earlier))), source: .live) {
        check(rig.log.durable[item.ledgerID] != nil, "seed \(seed): \(topic) passed \(item.id), which has no entry")
      }
    }
  }

  func checkEnd() throws {
    for source in rig.topics.sources {
      check(
        rig.log.committed[source]?.offset ?? 0 == rig.log.end(of: source),
        "seed \(seed): \(source) is not committed to its end")
    }
    let answered = Set(
      try (rig.log.records[rig.topics.events] ?? []).compactMap { record in
        try record.value.map { try JSONObject(parsing: $0) }?["id"]
      })
    let dead = Set(rig.deadLetters.compactMap(\.value))
    for id in (0..<produced).map(Self.name) {
      switch rig.log.durable[LedgerKey(id: id)]?.state {
      case .done:
        check(answered.contains(.string(id)), "seed \(seed): \(id) is done without an event")
        if calls["effect/\(id)"] != nil {
          check(isEnded("effect/\(id)"), "seed \(seed): the result of a call for \(id) is not recorded")
        }
      case .dead: check(dead.contains(Array(id.utf8)), "seed \(seed): \(id) is dead without a dead letter")
      case .delayed: Issue.record("seed \(seed): \(id) waits for ever")
      case nil: Issue.record("seed \(seed): \(id) is lost")
      }
    }
    for (name, bodies) in calls {
      check(Set(bodies).count == 1, "seed \(seed): \(name) was called with different bodies")
    }
    check(rig.log.durable.timers.isEmpty, "seed \(seed): timers are left")
    guard world.mode == .transactional else { return }
    check(Set(rig.events).count == rig.events.count, "seed \(seed): an event was published twice")
    // The ledger that a successor would restore must not block any key for ever.
    for key in (0..<5).map({ "k\($0)" }) {
      check(
        rig.log.durable.tail(of: LedgerKey(hashing: Array(key.utf8))) == nil, "seed \(seed): key \(key) stays blocked")
    }
  }
}
