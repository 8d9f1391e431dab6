// The state machine of a lane. It holds all work in flight and makes every decision. `LaneRunner` feeds it inputs and
// carries out its actions.

internal import AppStore
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
  var failures: FailureLog
  /// Notes what a dry run shows; nil outside of dry runs.
  var dryRun: DryRunJournal?
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
///
/// Each of its files has the inputs of one kind: records and time, handler runs, effects and erasure, commits.
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
  let startedAt: Timestamp

  private(set) var phase = Phase.running
  /// Whether commits carry the mark of a clean end instead of the records that are running.
  var isEndMarked = false

  var ledger: Ledger
  var watch: PoisonDetector
  var watermarks: LaneWatermarks
  var ages = LaneAges()
  /// The offset after the last record that was read, or the end of the source if it lies after that, by source.
  private var taken: ByTopic<Int64>
  /// The offset that the group has committed, by source.
  var committed: ByTopic<Int64>
  /// When to commit offsets again that the group has refused.
  var offsetsDue: Timestamp?
  /// The number of offsets without a record that were passed, by source.
  private var passed: ByTopic<Int64>
  /// The records by which each source is recognized.
  var trails: ByTopic<FingerprintTrail>
  /// The lane's ledger, for the metadata of offsets.
  var ledgerMark: LedgerMark?

  /// The records and timers that are ready or running, in the order of their keys.
  var keys: KeyedScheduler<LaneJob.Input>
  var quota: LaneQuota
  /// The records of each retry topic that wait there.
  private(set) var waiting: [DueHeap<LaneItem>]
  /// The number of writes that are not committed.
  var uncommitted = 0
  /// The bytes of the records in these writes.
  var uncommittedBytes = 0
  /// The due timers that are queued or running.
  var firing: Set<String> = []
  /// Whether due work waits for a place. Then the next record or timer that leaves the lane is news for the clock.
  private(set) var isHeldUp = false
  private var sweptAt: Timestamp

  /// The records whose handlers run. The crash mark names them for the next owner of the lane.
  var running: Set<SourcePosition> = []
  /// The timers whose handlers run, with the numbers that identify them in the crash mark.
  var runningTimers: [String: UInt64] = [:]
  /// The number of calls that wait for a rate-limit slot at Apple.
  var waits = 0
  /// The runs whose customer was erased while they ran. Their outcomes are dropped.
  var withdrawn: Set<UInt64> = []

  var actions = LaneActions()

  /// - Parameters:
  ///   - starts: The first offset to read of each source.
  ///   - marks: The marks of the committed offsets, by source.
  ///   - ledgerMark: The mark of the ledger.
  init(
    epoch: LaneEpoch, starts: [String: Int64], marks: [String: OffsetMark] = [:], ledger: Ledger,
    ledgerMark: LedgerMark? = nil, watch: PoisonDetector, rules: LaneRules, now: Timestamp
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
    passed = ByTopic(starts.mapValues { _ in 0 })
    trails = ByTopic(
      Dictionary(uniqueKeysWithValues: starts.keys.map { ($0, FingerprintTrail(marks[$0]?.last)) }))
    self.ledgerMark = ledgerMark
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
    rules.metrics.ledger(ledger.count, failingTimers: ledger.timers.failingCount, lane: epoch.lane)
  }

  /// Whether records of a key wait for delayed ones before them.
  var isStrict: Bool { rules.policy.ordering == .strict }

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

  /// The work that the lane holds.
  func rest(now: Timestamp) -> LaneRest {
    let isAnythingDue = (waiting.map(\.nextDue) + [ledger.timers.nextDue]).contains { $0.map { $0 <= now } ?? false }
    let isStill = uncommitted == 0 && !isAnythingDue
    return LaneRest(
      taken: taken.dictionary, isQuiet: isStill && keys.count == keys.waiting, isStill: isStill, handlers: keys.working,
      waits: waits, held: keys.count + uncommitted + waiting.map(\.count).reduce(0, +))
  }

  /// Returns how far the lane has come.
  func progress(now: Timestamp) -> LaneProgress {
    var sources: [String: LaneProgress.Source] = [:]
    for (topic, read) in taken.dictionary {
      sources[topic] = LaneProgress.Source(
        read: read, committed: committed.place(of: topic).map { committed[$0] } ?? read,
        passed: passed.place(of: topic).map { passed[$0] } ?? 0, newest: trail(of: topic)?.newest,
        anchor: trail(of: topic)?.anchor)
    }
    return LaneProgress(
      sources: sources, age: ages.oldest.map { max(.zero, now - $0) } ?? .zero,
      failingTimers: ledger.timers.failingCount)
  }

  private func trail(of topic: String) -> FingerprintTrail? { trails.place(of: topic).map { trails[$0] } }

  /// Notes that a source was recognized after a record had been read.
  mutating func recognized(_ topic: String, after print: RecordFingerprint) {
    if let place = trails.place(of: topic) { trails[place].recognized(after: print) }
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
    uncommitted < 2 * rules.policy.recordsInFlight && uncommittedBytes < rules.policy.bytesInFlight
  }

  /// Notes a record that was read, with its deadline and the time until which it waits.
  /// - Returns: The record to ``place(_:)``, or nil if it was read before.
  mutating func receive(_ item: LaneItem, now: Timestamp) -> LaneItem? {
    pass(item.position.topic, to: item.position.offset + 1, records: 1)
    guard watermarks.take(item.position) else { return nil }
    if let place = trails.place(of: item.position.topic) { trails[place].append(RecordFingerprint(item)) }
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
    pass(topic, to: end, records: 0)
    if watermarks.skip(to: end, of: topic) { submit(LaneWrite(lane: epoch)) }
  }

  /// Notes that a source was read up to an offset. Offsets before those that were read are not counted.
  private mutating func pass(_ topic: String, to next: Int64, records: Int64) {
    let place = taken.place(of: topic, default: next)
    guard next > taken[place] else { return }
    passed[passed.place(of: topic, default: 0)] += next - taken[place] - records
    taken[place] = next
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
    if let due = offsetsDue, due <= now {
      offsetsDue = nil
      submit(LaneWrite(lane: epoch))
    }
    fireTimers(at: now)
    releaseDue(at: now)
    sweep(at: now)
    // Records and timers that are due but have no place do not count: the next record that leaves the lane is news.
    return (waiting.map(\.nextDue) + [ledger.timers.nextDue, offsetsDue]).compactMap(\.self).filter { $0 > now }
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
    var write = LaneWrite(lane: epoch, finishes: item.position)
    switch ledger.verdict(for: item.ledgerID, arriving: item.arrival, reapply: item.reapply) {
    case .skip(let reason):
      rules.metrics.skipped(reason.rawValue, type: item.typeLabel)
      write.entries = ledger.entries(counting: .skipped, of: item)
    case .reapply: write.records = [rules.planner.moved(item, to: delayIndex, now: now)]
    case .run(let attempt):
      write.records = [rules.planner.moved(item, to: delayIndex, now: now)]
      write.entries = ledger.entries(delaying: item, attempt: attempt, in: delayIndex, isStrict: isStrict, at: now)
    }
    submit(write)
  }

  /// Queues due timers with the records of their key, before records without a deadline. No other handler of the key
  /// runs at the same time, so a handler can read its state safely. Timers have places of their own: otherwise a full
  /// lane would not fire any.
  private mutating func fireTimers(at now: Timestamp) {
    for name in ledger.takeDueTimers(at: now, upTo: rules.policy.parallelism - firing.count) {
      // A write that is not committed may withdraw or move the timer. Its commit tells the ledger.
      guard let timer = ledger.timer(name), timer.due <= now, firing.insert(name).inserted else { continue }
      _ = keys.admit(
        .timer(NamedTimer(name, timer)), key: timer.key, group: FiredTimer.typeLabel, bytes: timer.payload.count,
        deadline: timer.due, hasOwnPlace: true)
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
