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
      let isHeldUp = await release()
      fireTimers()
      sweep()
      // Read before the wall time: where time passes in between, the lane wakes too early and looks again.
      let now = parts.clock.now
      let wait = nextTime - parts.clock.wallTime
      if wait > .zero {
        await bell.wait(until: now.advanced(by: wait), on: parts.clock)
      } else if isHeldUp {
        await bell.wait()
      }
    }
  }

  private var nextTime: Timestamp {
    let dues = waiting.compactMap(\.nextDue) + [timers.nextDue].compactMap { $0 } + [sweptAt + Self.sweepInterval]
    return dues.min() ?? sweptAt + Self.sweepInterval
  }

  /// Records whose time on their tier is over run, or go on to the next tier.
  /// - Returns: whether as many are on their way to another tier as may be.
  private func release() async -> Bool {
    var isHeldUp = false
    for tier in waiting.indices {
      while !isDraining {
        isHeldUp = moving >= parts.policy.recordsInFlight
        guard !isHeldUp, let item = waiting[tier].popDue(at: parts.clock.wallTime) else { break }
        if let next = item.nextTier { move(item, to: next) } else { await arrive(item) }
      }
    }
    openGates()
    dispatch()
    return isHeldUp
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

  private func fireTimers() {
    let now = parts.clock.wallTime
    var jobs: [LaneJob] = []
    while !isDraining, let name = timers.popDue(at: now) {
      // Moved or withdrawn since: another entry of the heap stands for it, or none.
      guard let timer = ledger.timer(name), timer.at <= now, firing.insert(name).inserted else { continue }
      jobs.append(.timer(name, timer))
    }
    crew.hand(jobs, to: self)
  }

  /// What is older than the horizon leaves the ledger, and its topic by a tombstone.
  private func sweep() {
    let now = parts.clock.wallTime
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
    (taken, ages.oldest.map { max(.zero, parts.clock.wallTime - $0) } ?? .zero)
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
