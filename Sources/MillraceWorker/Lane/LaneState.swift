// The state machine of a lane. It holds all work in flight and makes every decision. `LaneRunner` feeds it inputs and
// carries out its actions.

internal import AppStore
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords

/// The rules for a lane's decisions, the same for every lane of a worker.
struct LaneRules: Sendable {
  var policy: WorkerPolicy
  var topics: WorkerTopics
  var planner: OutcomePlanner
  /// Returns the time after which a notification is no longer worth handling.
  var deadline: @Sendable (NotificationEnvelope, Timestamp) -> Timestamp?
  var erasure = ErasureRules()
  /// Counts what the lane decides.
  var metrics: WorkerMetrics
  var logger: Logger
}

/// The actions that the runner has to carry out after an input.
struct LaneActions: Sendable {
  /// The writes to hand to the committer, in order.
  var writes: [LaneWrite] = []
  /// The handler runs to start, in order.
  var jobs: [LaneJob] = []
  /// Whether the next due time may have changed.
  var isTimeNews = false
  /// Whether records have left the lane, so that reading can go on.
  var hasRoom = false
  /// The worker's own mistake, which ends it.
  var fault: MillraceError?
}

/// Everything that is in flight or due in one lane during one ownership. A value without I/O; time is a parameter.
struct LaneState: Sendable {
  /// How far the lane has come towards its end. It never goes back.
  enum Phase: Int, Sendable, Comparable {
    /// Reads records and starts handlers.
    case running
    /// Starts nothing more. Outcomes of running handlers count.
    case draining
    /// The outcomes of running handlers no longer count. Decisions that were made before are still committed.
    case handedBack
    /// The lane is over. Results are ignored, and commits are refused.
    case stopped

    static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
  }

  let epoch: LaneEpoch
  let rules: LaneRules
  private let startedAt: Timestamp

  private(set) var phase = Phase.running
  /// Whether commits carry the mark of a clean end instead of the records that are running.
  private var isEndMarked = false

  private(set) var ledger: Ledger
  private(set) var watch: PoisonDetector
  private var watermarks: LaneWatermarks
  private var ages = LaneAges()
  /// The offset after the last record that was read, or the end of the source if it lies after that, by source.
  private var taken: ByTopic<Int64>
  /// The offset that the group has committed, by source.
  private var committed: ByTopic<Int64>

  /// The records and timers that are ready or running, in the order of their keys.
  private var keys: KeyedScheduler<LaneWork>
  private var quota: LaneQuota
  /// The records of each retry topic that wait there.
  private var waiting: [DueHeap<LaneItem>]
  /// The number of writes that are not committed.
  private var uncommitted = 0
  /// The bytes of the records in these writes.
  private var uncommittedBytes = 0
  /// The due timers that are queued with the records of their key.
  private var firing: Set<String> = []
  /// Whether due work waits for a place. Then the next record or timer that leaves the lane is news for the clock.
  private var isHeldUp = false
  private var sweptAt: Timestamp

  /// The records whose handlers run. The crash mark names them for the next owner of the lane.
  private var running: Set<SourcePosition> = []
  /// The timers whose handlers run, with the numbers that identify them in the crash mark.
  private var runningTimers: [String: UInt64] = [:]
  /// The number of calls that wait for a rate-limit slot at Apple.
  private var waits = 0
  /// The runs whose customer was erased while they ran. Their outcomes are dropped.
  private var withdrawn: Set<UInt64> = []

  private var actions = LaneActions()

  /// - Parameter starts: The first offset to read of each source.
  init(
    epoch: LaneEpoch, starts: [String: Int64], ledger: Ledger, watch: PoisonDetector, rules: LaneRules, now: Timestamp
  ) {
    self.epoch = epoch
    self.rules = rules
    self.ledger = ledger
    self.watch = watch
    startedAt = now
    sweptAt = now
    watermarks = LaneWatermarks(startingAt: starts)
    taken = ByTopic(starts)
    committed = ByTopic(starts)
    let policy = rules.policy
    keys = KeyedScheduler(
      limits: .init(
        records: policy.recordsInFlight, bytes: policy.bytesInFlight, handlers: policy.parallelism,
        waiting: max(policy.parallelism, policy.recordsInFlight / 2)))
    keys.isOneAtATime = watch.isOneAtATime
    quota = LaneQuota(records: policy.recordsInFlight)
    waiting = rules.planner.schedule.delays.map { _ in
      DueHeap(places: policy.recordsInFlight, bytes: policy.bytesInFlight)
    }
    rules.metrics.ledger(ledger.count, lane: epoch.lane)
  }

  /// Returns the actions since the last call.
  mutating func takeActions() -> LaneActions {
    var actions = LaneActions()
    swap(&actions, &self.actions)
    return actions
  }

  // MARK: - Phases

  /// Whether records are read and handlers start.
  var isRunning: Bool { phase == .running }
  /// Whether the outcomes of handlers still count.
  var acceptsOutcomes: Bool { phase < .handedBack }

  /// Moves on to a later phase. An earlier one has no effect.
  mutating func enter(_ phase: Phase) {
    self.phase = max(self.phase, phase)
    actions.isTimeNews = true
    actions.hasRoom = true
  }

  // MARK: - What is in flight

  /// The number of handlers that run, also those that wait for a rate-limit slot.
  var runningHandlers: Int { keys.working + keys.waiting }

  /// The offsets that the lane has read up to, whether it is idle, and the numbers of running handlers, of calls that
  /// wait for a rate-limit slot, and of records in memory.
  func rest(now: Timestamp) -> LaneRest {
    let isAnythingDue = (waiting.map(\.nextDue) + [ledger.timers.nextDue]).contains { $0.map { $0 <= now } ?? false }
    let isStill = uncommitted == 0 && !isAnythingDue
    return LaneRest(
      taken: taken.dictionary, isQuiet: isStill && keys.count == keys.waiting, isStill: isStill, handlers: keys.working,
      waits: waits, held: keys.count + uncommitted + waiting.map(\.count).reduce(0, +))
  }

  /// Returns how far the lane has come.
  func progress(now: Timestamp) -> LaneProgress {
    let committed = committed.dictionary
    var offsets: [String: (read: Int64, committed: Int64)] = [:]
    for (topic, read) in taken.dictionary { offsets[topic] = (read, committed[topic] ?? read) }
    return LaneProgress(offsets: offsets, age: ages.oldest.map { max(.zero, now - $0) } ?? .zero)
  }

  /// Returns the committed part of the ledger.
  mutating func committedLedger() -> Ledger {
    ledger.dropStaged()
    return ledger
  }
}

// MARK: - Records arrive

extension LaneState {
  /// Whether the lane has room for another record of a source.
  func hasRoom(for source: LaneSource) -> Bool {
    switch source {
    case .live, .replay: hasPlace(for: source, bytes: 0)
    case .retry(let delayIndex): waiting.indices.contains(delayIndex) && waiting[delayIndex].hasRoom(for: 0)
    }
  }

  private func hasPlace(for source: LaneSource, bytes: Int) -> Bool {
    mayDecide && quota.hasRoom(for: source) && keys.hasRoom(for: uncommittedBytes + bytes)
  }

  /// Whether the lane may decide more records while earlier outcomes wait for their commit.
  private var mayDecide: Bool {
    uncommitted < 4 * rules.policy.recordsInFlight && uncommittedBytes < rules.policy.bytesInFlight
  }

  /// Notes a record that was read, with its deadline and the time until which it waits.
  /// - Returns: The record to ``place(_:)``, or nil if it was read before.
  mutating func receive(_ item: LaneItem, now: Timestamp) -> LaneItem? {
    taken[taken.place(of: item.position.topic, default: 0)] = item.position.offset + 1
    guard watermarks.take(item.position) else { return nil }
    var item = item
    if item.isRequeued {
      // The operator requeued the record knowing that it was late.
      item.deadline = nil
    } else if item.deadline == nil {
      item.deadline = rules.deadline(item.envelope, item.firstWritten)
      if DeadlineDanger.hasBegun(at: now, written: item.firstWritten, deadline: item.deadline) {
        rules.metrics.endangered(type: item.typeLabel)
      }
    }
    // A wait as long as planned is not lag.
    ages.take(item.position, since: max(item.written, item.awaited ?? item.written))
    guard case .retry(let delayIndex) = item.source else { return item }
    let appended = item.delayedAt ?? item.written
    switch rules.planner.schedule.step(
      delayIndex: delayIndex, appended: appended, due: item.awaited ?? appended, deadline: item.deadline)
    {
    case .run(let time): item.due = time
    case .move(let time, let next):
      item.due = time
      item.nextDelayIndex = next
    }
    return item
  }

  /// Puts a record that was received into the queue of its key, or of its retry topic until its delay there ends.
  /// - Returns: False if there is no room for it yet.
  mutating func place(_ item: LaneItem) -> Bool {
    guard case .retry(let delayIndex) = item.source, let due = item.due else { return admit(item) }
    guard waiting[delayIndex].insert(item, due: due, bytes: item.bytes) else { return false }
    actions.isTimeNews = true
    return true
  }

  /// Notes that a source was read to its end. Transaction markers have offsets too, so the end can lie after the last
  /// record. It is committed once no record of the source is in flight: the lag of a lane at rest is 0.
  mutating func reachedEnd(of topic: String, at end: Int64) {
    let place = taken.place(of: topic, default: 0)
    taken[place] = max(taken[place], end)
    if watermarks.skip(to: end, of: topic) { submit(LaneWrite(lane: epoch)) }
  }

  private mutating func admit(_ item: LaneItem) -> Bool {
    guard hasPlace(for: item.source, bytes: item.bytes) else { return false }
    let isIn = keys.admit(
      .record(item), key: item.key, group: item.group, bytes: item.bytes, isReplay: item.source == .replay,
      deadline: item.deadline)
    if isIn { quota.take(item.source) }
    return isIn
  }
}

// MARK: - Time passes

extension LaneState {
  /// A sweep looks at 1/256 of the ledger, so that a full pass takes an hour and never blocks the lane for long.
  private static let sweepInterval = Duration.seconds(3_600) / 256
  /// Entries of delayed records are kept longer, for workers that were switched off for a while.
  private static let delayedHorizonFactor = 8

  /// Starts what is due, and returns the time of the next call. A draining lane starts nothing, so due records and
  /// timers remain due.
  mutating func timePassed(now: Timestamp) -> Timestamp {
    isHeldUp = false
    fireTimers(at: now)
    releaseDue(at: now)
    sweep(at: now)
    // Records and timers that are due but have no place do not count: the next record that leaves the lane is news.
    return (waiting.map(\.nextDue) + [ledger.timers.nextDue]).compactMap(\.self).filter { $0 > now }
      .reduce(sweptAt + Self.sweepInterval, min)
  }

  /// Runs the records whose delay has ended, or moves them to their next retry topic. The retry topics take turns, and
  /// no record waits for room here. So a topic that always has due records delays neither the other topics nor timers.
  private mutating func releaseDue(at now: Timestamp) {
    var isMore = true
    while isMore {
      isMore = false
      for delayIndex in waiting.indices {
        guard let item = waiting[delayIndex].firstDue(at: now) else { continue }
        let mayLeave =
          item.nextDelayIndex == nil ? hasPlace(for: item.source, bytes: item.bytes) : mayDecide
        guard mayLeave else {
          isHeldUp = true
          continue
        }
        _ = waiting[delayIndex].popDue(at: now)
        if let next = item.nextDelayIndex { move(item, to: next, now: now) } else { _ = admit(item) }
        isMore = true
        actions.hasRoom = true
      }
    }
    dispatch(now: now)
  }

  /// Moves a record to another retry topic. The ledger records the new topic, because later records of the key in
  /// strict order are written to the same one.
  private mutating func move(_ item: LaneItem, to delayIndex: Int, now: Timestamp) {
    let id = item.ledgerID
    var write = LaneWrite(lane: epoch, finishes: item.position)
    switch ledger.verdict(for: id, arriving: item.arrival) {
    case .skip(let reason): rules.metrics.skipped(reason.rawValue, type: item.typeLabel)
    case .reapply: write.records = [rules.planner.moved(item, to: delayIndex, now: now)]
    case .run(let attempt):
      write.records = [rules.planner.moved(item, to: delayIndex, now: now)]
      write.entries = delaying(id, item, attempt: attempt, delayIndex: delayIndex, now: now)
    }
    submit(write)
  }

  /// Queues due timers with the records of their key, before records without a deadline. No other handler of the key
  /// runs at the same time, so a handler can read its state safely. Timers have places of their own: otherwise a full
  /// lane would not fire any.
  private mutating func fireTimers(at now: Timestamp) {
    for name in ledger.takeDueTimers(at: now, upTo: rules.policy.parallelism - firing.count) {
      // A write that is not committed may withdraw or move the timer. Its commit tells the ledger.
      guard let timer = ledger.timer(name), timer.at <= now, firing.insert(name).inserted else { continue }
      _ = keys.admit(
        .timer(name), key: timer.key, group: FiredTimer.typeLabel, bytes: timer.payload.count, deadline: timer.at,
        hasOwnPlace: true)
    }
    if let next = ledger.timers.nextDue, next <= now { isHeldUp = true }
  }

  /// Removes entries older than the horizon from the ledger, and from its topic with tombstones.
  private mutating func sweep(at now: Timestamp) {
    guard isRunning, now >= sweptAt + Self.sweepInterval else { return }
    sweptAt = now
    let horizon = rules.policy.ledgerHorizon
    let old = ledger.expired(
      before: now - horizon, delayedBefore: now - horizon * Self.delayedHorizonFactor, parts: 1)
    if !old.isEmpty { submit(LaneWrite(lane: epoch, entries: old)) }
  }
}

// MARK: - Handlers start

extension LaneState {
  /// Starts the records and timers that may run.
  mutating func dispatch(now: Timestamp) {
    while isRunning, let job = keys.next() {
      switch job.record {
      case .record(let item): start(job.number, item, now: now)
      case .timer(let name): start(job.number, timer: name, now: now)
      }
    }
  }

  private mutating func start(_ number: UInt64, _ item: LaneItem, now: Timestamp) {
    let id = item.ledgerID
    let (schedule, waiting, startedAt) = (rules.planner.schedule, waiting, startedAt)
    // Whether a record delayed like this would have returned from its retry topic by now.
    func hasPassed(_ handled: Handled) -> Bool {
      RetryDelayPassage(
        delays: schedule.delays, nextDue: waiting.map(\.nextDue), started: startedAt, now: now
      ).hasPassed(handled)
    }
    if isErased(item) { return drop(number, item) }
    let attempt: Int
    var digest: UInt32?
    // Ask the ledger first: a notification that is done or dead neither waits nor counts as the cause of a crash.
    switch ledger.verdict(for: id, arriving: item.arrival, hasPassed: hasPassed) {
    case .run(let next):
      if next > item.attempt {
        rules.logger.warning(
          "a delayed record did not return from its retry topic; running the copy that arrived later",
          metadata: ["lane": "\(epoch.lane)", "notification": "\(item.id)"])
      }
      attempt = next
    case .reapply(let next, let replaced):
      attempt = next
      digest = replaced
    case .skip(let reason):
      rules.metrics.skipped(reason.rawValue, type: item.typeLabel)
      decided(number, item)
      return submit(LaneWrite(lane: epoch, finishes: item.position))
    }
    if watch.isCondemned(item.position) {
      return finish(number, item, id, rules.planner.crashed(item, now: now), replacing: digest, began: nil, now: now)
    }
    if rules.policy.ordering == .strict,
      let predecessor = ledger.predecessor(
        of: id, key: LedgerKey(hashing: item.key), arriving: item.arrival, behind: item.behind, hasPassed: hasPassed)
    {
      let plan = rules.planner.behind(item, predecessor, now: now)
      return finish(number, item, id, plan, replacing: digest, began: nil, now: now)
    }
    var item = item
    item.attempt = attempt
    if let due = item.due { rules.metrics.late(by: now - due) }
    running.insert(item.position)
    // A lane that suspects its records commits the position of each one before it runs.
    actions.jobs.append(.record(number, item, replacing: digest, isNamed: watch.isOneAtATime))
  }

  /// Starts a timer, unless a record of its key has withdrawn or moved it meanwhile.
  private mutating func start(_ number: UInt64, timer name: String, now: Timestamp) {
    guard let timer = ledger.timer(name), timer.at <= now else { return decided(number, timer: name) }
    let mark = PoisonDetector.mark(of: name, timer)
    guard !watch.isCondemned(timer: mark) else { return deadLetter(number, name, timer, as: mark, now: now) }
    runningTimers[name] = mark
    actions.jobs.append(.timer(number, name, timer, isNamed: watch.isOneAtATime))
  }

  /// Dead-letters a timer that kills the process.
  private mutating func deadLetter(
    _ number: UInt64, _ name: String, _ timer: LaneTimer, as mark: UInt64, now: Timestamp
  ) {
    let letter = rules.planner.crashed(DeadTimer(name, timer), lane: epoch.lane, now: now)
    rules.metrics.died(reason: PoisonDetector.reason, type: FiredTimer.typeLabel)
    decided(number, timer: name)
    submit(LaneWrite(lane: epoch, fires: mark, records: [letter], entries: [.timer(name, nil)]))
  }

  /// Frees the place of a record, so that the next record or timer of its key may run.
  private mutating func decided(_ number: UInt64, _ item: LaneItem) {
    running.remove(item.position)
    keys.decided(number)
    quota.free(item.source)
    madeRoom()
  }

  /// Ends the run of a timer, so that the next record or timer of its key may run.
  private mutating func decided(_ number: UInt64, timer: String) {
    firing.remove(timer)
    runningTimers[timer] = nil
    keys.decided(number)
    madeRoom()
  }

  private mutating func madeRoom() {
    actions.hasRoom = true
    if isHeldUp { actions.isTimeNews = true }
  }
}

// MARK: - Handlers end

extension LaneState {
  /// Takes the result of a handler run.
  /// - Parameter open: The effects that the run began but did not end. They become available to the next run.
  mutating func ended(_ job: LaneJob, _ result: HandlerResult, open: Set<String>, began: Timestamp, now: Timestamp) {
    for name in open { ledger.leaveEffect(name) }
    keys.resume(job.number)
    guard withdrawn.remove(job.number) == nil else {
      switch job {
      case .record(let number, let item, let replacing, _):
        if isErased(item) { return drop(number, item) }
        // Apple signed it after the erasure. The handler has seen what was erased, so it runs again.
        return actions.jobs.append(.record(number, item, replacing: replacing, isNamed: watch.isOneAtATime))
      case .timer(let number, let name, let timer, _):
        decided(number, timer: name)
        return submit(LaneWrite(lane: epoch, fires: PoisonDetector.mark(of: name, timer)))
      }
    }
    switch job {
    case .record(let number, let item, let replacing, _):
      ended(number, item, result, replacing: replacing, began: began, now: now)
    case .timer(let number, let name, let timer, _): ended(number, name, timer, result, now: now)
    }
  }

  private mutating func ended(
    _ number: UInt64, _ item: LaneItem, _ result: HandlerResult, replacing: UInt32?, began: Timestamp, now: Timestamp
  ) {
    let plan = rules.planner.plan(item, result, began: began, now: now)
    switch plan.ending {
    case .undeclared(let topic): fail(writingTo: topic)
    case .again(let attempt):
      var item = item
      item.attempt = attempt
      actions.jobs.append(.record(number, item, replacing: replacing, isNamed: watch.isOneAtATime))
    case .done, .delayed, .dead:
      finish(number, item, item.ledgerID, plan, replacing: replacing, began: began, now: now)
    }
  }

  private mutating func ended(
    _ number: UInt64, _ name: String, _ timer: LaneTimer, _ result: HandlerResult, now: Timestamp
  ) {
    guard case .decided(let outcome) = result,
      let plan = rules.planner.plan(DeadTimer(name, timer), outcome, lane: epoch.lane, now: now)
    else {
      // A timer has no record to delay. It stays in the ledger until it succeeds.
      decided(number, timer: name)
      if let turn = result.turn {
        ledger.postponeTimer(name, until: max(turn, now + .milliseconds(1)))
      } else {
        rules.logger.warning("a timer failed; retrying", metadata: ["timer": "\(name)", "result": "\(result)"])
        ledger.postponeTimer(name, until: now + rules.planner.schedule.shortest)
      }
      actions.isTimeNews = true
      return
    }
    if case .undeclared(let topic) = plan.ending { return fail(writingTo: topic) }
    var write = LaneWrite(lane: epoch, fires: PoisonDetector.mark(of: name, timer), records: plan.records)
    rules.metrics.emitted(plan.events)
    if case .dead(let reason) = plan.ending { rules.metrics.died(reason: reason, type: FiredTimer.typeLabel) }
    let isSetAgain = plan.timers.contains { $0.name == name }
    if ledger.timer(name) == timer {
      if !isSetAgain { write.entries.append(.timer(name, nil)) }
    } else if let moved = ledger.timer(name) {
      // A notification has moved the timer while it ran, so it will fire again.
      ledger.postponeTimer(name, until: moved.at)
    }
    write.entries += timerEntries(plan.timers, key: timer.key)
    keep(plan.states, key: timer.key, in: &write)
    write.entries += counterEntries(plan.counts)
    decided(number, timer: name)
    submit(write)
  }

  /// Writes what a plan decides about a record.
  /// - Parameter began: When the handler began, or nil if none ran.
  private mutating func finish(
    _ number: UInt64, _ item: LaneItem, _ id: LedgerKey, _ plan: OutcomePlan, replacing: UInt32?, began: Timestamp?,
    now: Timestamp
  ) {
    var write = LaneWrite(lane: epoch, finishes: item.position)
    let isUnchanged = plan.ending == .done && replacing == plan.digest
    if !isUnchanged {
      write.records = plan.records
      rules.metrics.emitted(plan.events)
    }
    switch plan.ending {
    case .done:
      if !isUnchanged { write.entries = resolving(id, item, Handled(.done(digest: plan.digest), at: now)) }
      rules.metrics.ended(.done, type: item.typeLabel)
    case .delayed(let delayIndex, let reason):
      // A notification that is done stays done while its reapply is delayed.
      if replacing == nil {
        write.entries += delaying(id, item, attempt: plan.attempt, delayIndex: delayIndex, now: now)
      }
      rules.metrics.delayed(topic: rules.topics.retries[delayIndex], reason: reason, type: item.typeLabel)
      if DeadlineDanger.begins(
        after: now, until: plan.due ?? now, written: item.firstWritten, deadline: item.deadline)
      {
        rules.metrics.endangered(type: item.typeLabel)
      }
    case .dead(let reason):
      // A record that only claims an id must not block the genuine notification.
      let isKnown = ledger[id] != nil
      if replacing == nil, isKnown || !plan.isForeign {
        write.entries += resolving(id, item, Handled(.dead, at: now))
      }
      rules.metrics.died(reason: reason, type: item.typeLabel)
    case .again, .undeclared: break
    }
    let timers = plan.timers(replacing: replacing, began: began ?? now)
    if !timers.isEmpty { write.entries += timerEntries(timers, key: item.key) }
    keep(plan.states, key: item.key, in: &write)
    // A reapplied notification was counted when it was first done.
    if replacing == nil, !plan.counts.isEmpty { write.entries += counterEntries(plan.counts) }
    decided(number, item)
    submit(write)
  }

  /// Ends the worker, because an outcome writes to an undeclared topic. The record or timer is left as it was.
  private mutating func fail(writingTo topic: String) {
    actions.fault = MillraceError(
      .topics, "the worker \(rules.topics.worker) writes to a topic that it does not declare", at: topic,
      remedy: """
        declare it in the worker (`static let outputTopics: Set<String> = ["\(topic)"]`), which then starts only if the \
        topic exists
        """)
  }

  /// Adds the states that change to a write, each with its table row.
  private func keep(_ states: [KeptState], key: [UInt8], in write: inout LaneWrite) {
    for state in states where ledger.state(state.name) != state.value {
      write.entries.append(.state(state.name, state.value.map { StoredState($0, name: state.name, key: key) }))
      if let row = state.row { write.records.append(row) }
    }
  }

  private func resolving(_ id: LedgerKey, _ item: LaneItem, _ handled: Handled) -> [LedgerEntry] {
    guard rules.policy.ordering == .strict else { return [.handled(id, handled)] }
    return ledger.entries(resolving: id, key: LedgerKey(hashing: item.key), as: handled)
  }

  /// Returns the ledger entries of a delayed record. A requeued dead letter is outside the strict order of its key.
  private func delaying(
    _ id: LedgerKey, _ item: LaneItem, attempt: Int, delayIndex: Int, now: Timestamp
  ) -> [LedgerEntry] {
    let delayIndex = item.isRequeued ? nil : delayIndex
    let handled = Handled(.delayed(attempt: attempt, delayIndex: delayIndex), at: now)
    guard rules.policy.ordering == .strict else { return [.handled(id, handled)] }
    return ledger.entries(delaying: id, key: LedgerKey(hashing: item.key), as: handled)
  }

  private func timerEntries(_ changes: [Outcome.Timer], key: [UInt8]) -> [LedgerEntry] {
    changes.map { change in
      .timer(change.name, change.at.map { LaneTimer(at: $0, key: key, payload: change.payload) })
    }
  }

  private func counterEntries(_ counts: [String: Int64]) -> [LedgerEntry] {
    counts.sorted { $0.key < $1.key }.map { ledger.adding($0.value, to: $0.key) }
  }

}

// MARK: - Effects and waits of a run

extension LaneState {
  /// Begins an effect of a run, and writes its intent if there is none yet.
  /// - Parameter receipt: Settled when the intent is written.
  mutating func beginEffect(
    _ name: String, body: [UInt8], of number: UInt64, receipt: WriteReceipt, now: Timestamp
  ) -> Ledger.EffectStep {
    let step = ledger.beginEffect(name, body: body, key: keys.key(of: number) ?? [], now: now)
    if case .write(let entry) = step {
      submit(LaneWrite(lane: epoch, entries: [entry], isUrgent: true, receipt: receipt))
    }
    return step
  }

  /// Records the result of an effect. It is committed with the handler's outcome or earlier.
  mutating func endEffect(_ name: String, result: [UInt8]) {
    if let entry = ledger.endEffect(name, result: result) { submit(LaneWrite(lane: epoch, entries: [entry])) }
  }

  /// Withdraws an intent. The change is committed with the handler's outcome or earlier. Until then the effect counts
  /// as one with an unknown result.
  mutating func withdrawEffect(_ name: String) {
    if let entry = ledger.withdrawEffect(name) { submit(LaneWrite(lane: epoch, entries: [entry])) }
  }

  /// Lets a run wait for a rate-limit slot, and others run meanwhile.
  /// - Parameter isFirst: Whether no other call of the run waits already.
  /// - Returns: False if the lane drains or too many records of the app already wait. The record then has to leave.
  mutating func beginWaiting(_ number: UInt64, isFirst: Bool, now: Timestamp) -> Bool {
    guard isRunning else { return false }
    if isFirst {
      guard keys.wait(number) else { return false }
      dispatch(now: now)
    }
    waits += 1
    return true
  }

  /// Ends the wait of a call.
  /// - Parameter number: The run whose last waiting call this was. Nil if another call waits or the run is over.
  mutating func endWaiting(of number: UInt64?) {
    waits -= 1
    if let number { keys.resume(number) }
  }
}

// MARK: - Erasure

extension LaneState {
  /// Whether a record would bring an erased customer back.
  private func isErased(_ item: LaneItem) -> Bool {
    guard ledger.hasErasures, !item.announcesErasure else { return false }
    let isNotification = item.envelope.version != .found && item.envelope.version != .request
    return rules.erasure.refuse(item.key, signed: isNotification ? item.envelope.time : nil) { mark in
      ledger.erasure(LedgerKey(prefixOf: mark))?.at
    }
  }

  /// Finishes a record of an erased customer without an outcome.
  private mutating func drop(_ number: UInt64, _ item: LaneItem) {
    let id = item.ledgerID
    var write = LaneWrite(lane: epoch, finishes: item.position)
    // Later records of the key may wait for this one. A record that only claims an id must not block the genuine one.
    if case .delayed? = ledger[id]?.state {
      write.entries = resolving(id, item, Handled(.done(digest: OutcomeDigest().value), at: item.firstWritten))
    }
    rules.metrics.skipped(LedgerVerdict.Skip.erased.rawValue, type: item.typeLabel)
    decided(number, item)
    submit(write)
  }

  /// Whether a run no longer counts, because its customer was erased.
  func isWithdrawn(_ number: UInt64) -> Bool { withdrawn.contains(number) }

  /// Erases everything that the lane has about a record key, and leaves a mark. Writes nothing if it has done so before.
  ///
  /// - Parameters:
  ///   - records: Returns the records to write with it, from the names of the erased states.
  ///   - receipt: Settled when everything is written.
  mutating func erase(
    _ key: [UInt8], as mark: LedgerKey, _ erasure: Erasure, receipt: WriteReceipt,
    records: ([String]) -> [ProducerRecord]
  ) {
    // A command that is repeated after a failure must not erase what has arrived since.
    if let known = ledger.erasure(mark), known.at >= erasure.at {
      return submit(LaneWrite(lane: epoch, isUrgent: true, receipt: receipt))
    }
    if let run = keys.running(of: key) { withdrawn.insert(run) }
    let entries = ledger.entries(erasing: key)
    let states = entries.compactMap { if case .state(let name, _) = $0 { name } else { nil } }
    submit(
      LaneWrite(
        lane: epoch, records: records(states), entries: entries + [.erasure(mark, erasure)], isUrgent: true,
        receipt: receipt))
  }
}

// MARK: - Commits

extension LaneState {
  /// Adds a write, and applies its entries to the ledger as not yet committed.
  mutating func submit(_ write: LaneWrite) {
    for entry in write.entries { ledger.stage(entry) }
    uncommitted += 1
    uncommittedBytes += write.bytes
    actions.writes.append(write)
  }

  /// Adds the write of an operator's commands, which may set timers again. Most of these are due at once.
  mutating func submit(_ write: LaneWrite, settingAgain timers: [DeadTimer]) {
    var write = write
    for dead in timers {
      let again = Outcome.Timer(name: dead.name, at: dead.timer.at, payload: dead.timer.payload)
      write.entries += timerEntries([again], key: dead.timer.key)
    }
    submit(write)
  }

  /// Commits the mark of a clean end with the offsets.
  mutating func markEnd(_ receipt: WriteReceipt) {
    isEndMarked = true
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: receipt))
  }

  /// Adds offsets and ledger records to writes; nil if the lane is over.
  /// - Parameter pageNumber: A random number for the id of a ledger page.
  func seal(_ writes: [LaneWrite], pageNumber: UInt32, now: Timestamp) -> LaneCommit? {
    guard phase < .stopped else { return nil }
    let timers = Array(runningTimers.values)
    let offsets = watermarks.offsets(finishing: writes.compactMap(\.finishes)).map { position in
      let inFlight = running.filter { $0.topic == position.topic }.map(\.offset)
      return CommittedOffset(
        TopicPartition(topic: position.topic, partition: epoch.lane), offset: position.offset,
        metadata: isEndMarked
          ? PoisonDetector.cleanMetadata : watch.metadata(of: position.topic, inFlight: inFlight, timers: timers))
    }
    let paged = ledger.paged(LedgerEntry.withoutPassedCounts(writes.flatMap(\.entries)))
    var entries = paged.rest
    let page = paged.page.map { LedgerEntry.page(LedgerPage.ID(at: now, pageNumber), $0) }
    if let page { entries.append(page) }
    let records = entries.map { entry in
      let record = LedgerRecord(entry)
      return ProducerRecord(
        topic: rules.topics.ledger, partition: epoch.lane, key: record.key, value: record.value)
    }
    return LaneCommit(writes: writes, offsets: offsets, ledger: records, page: page)
  }

  /// Applies writes that were committed, and starts what may run now.
  mutating func committed(_ commit: LaneCommit, now: Timestamp) {
    for write in commit.writes {
      for entry in write.entries {
        ledger.settle(entry)
        if case .timer(_, .some) = entry { actions.isTimeNews = true }
      }
      if let timer = write.fires { watch.settled(timer: timer) }
      if let position = write.finishes {
        watermarks.finish(position)
        watch.settled(position)
      }
      uncommitted -= 1
      uncommittedBytes -= write.bytes
    }
    // Apply the page after its individual entries: it also records that they are stored on a page.
    if let page = commit.page { ledger.restore(page) }
    for offset in commit.offsets { committed[committed.place(of: offset.partition.topic, default: 0)] = offset.offset }
    // If a source was read to its end after the offsets were sealed, no later write may come to commit its end.
    if uncommitted == 0, watermarks.offsets.map(\.offset) != commit.offsets.map(\.offset) {
      submit(LaneWrite(lane: epoch))
    }
    keys.isOneAtATime = watch.isOneAtATime
    ages.finish(watermarks.offsets)
    rules.metrics.inFlight(keys.count + uncommitted, lane: epoch.lane)
    rules.metrics.ledger(ledger.count, lane: epoch.lane)
    madeRoom()
    dispatch(now: now)
  }
}
