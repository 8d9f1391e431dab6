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
    while !isOver {
      try Task.checkCancellation()
      await release()
      fireTimers()
      sweep()
      let wait = nextTime - parts.clock.wallTime
      if wait > .zero { await bell.wait(until: parts.clock.now.advanced(by: wait), on: parts.clock) }
    }
  }

  private var nextTime: Timestamp {
    let dues = waiting.compactMap(\.nextDue) + [timers.nextDue].compactMap { $0 } + [sweptAt + Self.sweepInterval]
    return dues.min() ?? sweptAt + Self.sweepInterval
  }

  /// Records whose time on their tier is over run, or go on to the next tier.
  private func release() async {
    for tier in waiting.indices {
      while !isDraining, let item = waiting[tier].popDue(at: parts.clock.wallTime) {
        guard let next = item.nextTier else {
          await arrive(item)
          continue
        }
        let record = parts.planner.moved(item, to: next, now: parts.clock.wallTime)
        submit(LaneWrite(lane: epoch, finishes: item.position, records: [record]))
      }
    }
    openGates()
    dispatch()
  }

  private func fireTimers() {
    let now = parts.clock.wallTime
    while !isDraining, let name = timers.popDue(at: now) {
      // Moved or withdrawn since: another entry of the heap stands for it, or none.
      guard let timer = ledger.timer(name), timer.at <= now else { continue }
      runningTimers += 1
      feed.yield(.timer(name, timer))
    }
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
    return KeptLedger(ledger: ledger, end: ledgerEnd)
  }
}

/// A lane's ledger after the lane left.
struct KeptLedger: Sendable {
  var ledger: Ledger
  /// From where its topic has to be read again.
  var end: Int64
}
