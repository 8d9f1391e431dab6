// What a lane does because time has passed: records whose wait is over, timers, and what the ledger may forget.

internal import AppStore
internal import Clocks
internal import Kafka

extension LaneRunner {
  /// One sweep looks at a 256th of the ledger, so that a whole one takes an hour and holds nothing up.
  private static let sweepInterval = Duration.seconds(3_600) / 256
  /// What waits on a tier is remembered longer: a worker that was switched off finds it as it left it.
  private static let parkedHorizonFactor = 8

  /// Serves due times until the lane stops.
  func keepTime() async throws {
    // A lane that drains starts nothing any more, and what is due then stays due.
    while !isDraining {
      try Task.checkCancellation()
      // Read before the wall time: where time passes in between, the lane wakes too early and looks again.
      let began = parts.clock.now
      let now = parts.clock.wallTime
      isHeldUp = false
      fireTimers(at: now)
      release(at: now)
      sweep(at: now)
      await bell.wait(until: began.advanced(by: nextTime(after: now) - now), on: parts.clock)
    }
  }

  /// What is due already and has no place is no time to wait for: whoever leaves rings.
  private func nextTime(after now: Timestamp) -> Timestamp {
    let sweep = sweptAt + Self.sweepInterval
    return (waiting.map(\.nextDue) + [timers.nextDue]).compactMap(\.self).filter { $0 > now }.reduce(sweep, min)
  }

  /// Records whose time on their tier is over run, or go on to the next tier. The tiers take turns and nobody waits for
  /// room in here: a tier that always has something due holds up neither the others nor a timer.
  private func release(at now: Timestamp) {
    var hasReleased = false
    var isMore = true
    while isMore {
      isMore = false
      for tier in waiting.indices {
        guard let item = waiting[tier].firstDue(at: now) else { continue }
        guard hasWay(item) else {
          isHeldUp = true
          continue
        }
        _ = waiting[tier].popDue(at: now)
        if let next = item.nextTier { move(item, to: next) } else { _ = admit(item) }
        isMore = true
        hasReleased = true
      }
    }
    if hasReleased { openGates() }
    dispatch()
  }

  /// Whether a record whose time is over may leave its tier now.
  private func hasWay(_ item: LaneItem) -> Bool {
    item.nextTier == nil
      ? hasPlace(for: item.source, bytes: item.bytes) : moving < parts.policy.recordsInFlight
  }

  /// The ledger follows a record from tier to tier: those behind it are appended to the tier it waits on.
  private func move(_ item: LaneItem, to tier: Int) {
    let now = parts.clock.wallTime
    let id = item.ledgerID
    var write = LaneWrite(lane: epoch, finishes: item.position)
    switch ledger.verdict(for: id, arriving: item.arrival) {
    case .skip(let reason): parts.metrics.skipped(reason.rawValue, type: item.typeLabel)
    case .reapply: write.records = [parts.planner.moved(item, to: tier, now: now)]
    case .run(let attempt):
      write.records = [parts.planner.moved(item, to: tier, now: now)]
      write.entries = parking(id, item, attempt: attempt, tier: tier)
    }
    moving += 1
    stage(write)
    submit(write)
  }

  /// Timers take their place among the records of their key, before those without a deadline: a handler that reads what
  /// it kept finds nobody beside it. They have places of their own, or a lane that is full would fire none.
  private func fireTimers(at now: Timestamp) {
    while let name = timers.firstDue(at: now) {
      guard firing.count < parts.policy.parallelism else {
        isHeldUp = true
        return
      }
      _ = timers.popDue(at: now)
      // Moved or withdrawn since: another entry of the heap stands for it, or none.
      guard let timer = ledger.timer(name), timer.at <= now, firing.insert(name).inserted else { continue }
      _ = keys.admit(
        .timer(name), key: timer.key, group: FiredTimer.typeLabel, bytes: timer.payload.count, deadline: timer.at,
        hasOwnPlace: true)
    }
  }

  /// What is older than the horizon leaves the ledger, and its topic by a tombstone.
  private func sweep(at now: Timestamp) {
    guard !isDraining, now >= sweptAt + Self.sweepInterval else { return }
    sweptAt = now
    let horizon = parts.policy.ledgerHorizon
    let old = ledger.expired(
      before: now - horizon, parkedBefore: now - horizon * Self.parkedHorizonFactor, parts: 1)
    guard !old.isEmpty else { return }
    for entry in old { ledger.stage(entry) }
    submit(LaneWrite(lane: epoch, entries: old))
  }
}

extension LaneRunner {
  /// How far the lane is, and how old the oldest record is that it has not finished.
  func progress() -> (taken: [String: Int64], age: Duration) {
    // Nobody takes what stands behind the last record: ends of transactions.
    let ends = partitions.compactMap { partition in partition.end.map { (partition.partition.topic, $0) } }
    return (
      taken.dictionary.merging(ends) { max($0, $1) }, ages.oldest.map { max(.zero, parts.clock.wallTime - $0) } ?? .zero
    )
  }

  /// A ledger to build upon when the lane comes back to this worker.
  func keptLedger() -> KeptLedger {
    ledger.dropStaged()
    return KeptLedger(ledger: ledger, end: ledgerEnd, since: parts.clock.now)
  }
}

/// A lane's ledger after the lane left.
struct KeptLedger: Sendable {
  var ledger: Ledger
  /// From where its topic has to be read again.
  var end: Int64
  /// When the lane left.
  var since: MillraceClock.Instant

  /// Compaction keeps what removes an entry for a day (`delete.retention.ms`). A ledger that was away for longer would
  /// set a timer again that has fired; and what is kept costs memory for a lane that may never come back.
  func isFresh(at now: MillraceClock.Instant) -> Bool { since.duration(to: now) < .seconds(3_600) }
}
