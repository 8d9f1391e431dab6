// The timed work of a lane: delayed records, timers, and the expiry of ledger entries.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

extension LaneRunner {
  /// A sweep looks at 1/256 of the ledger, so that a full pass takes an hour and never blocks the lane for long.
  private static let sweepInterval = Duration.seconds(3_600) / 256
  /// Entries of delayed records are kept longer, for workers that were switched off for a while.
  private static let delayedHorizonFactor = 8

  /// Runs due work until the lane drains or stops.
  func keepTime() async throws {
    // A draining lane starts nothing, so due records and timers remain due.
    while !isDraining {
      try Task.checkCancellation()
      // Read before the wall time: if time passes in between, the lane wakes too early and looks again.
      let began = parts.clock.now
      let now = parts.clock.wallTime
      isHeldUp = false
      fireTimers(at: now)
      release(at: now)
      sweep(at: now)
      await wakeUp.wait(until: began.advanced(by: nextTime(after: now) - now), on: parts.clock)
    }
  }

  /// Returns the next due time. It ignores records and timers that are due but have no place, because the next record
  /// that leaves the lane signals them.
  private func nextTime(after now: Timestamp) -> Timestamp {
    let sweep = sweptAt + Self.sweepInterval
    return (waiting.map(\.nextDue) + [timers.nextDue]).compactMap(\.self).filter { $0 > now }.reduce(sweep, min)
  }

  /// Runs the records whose delay has ended, or moves them to their next retry topic. The retry topics take turns, and
  /// no record waits for room here. So a topic that always has due records delays neither the other topics nor timers.
  private func release(at now: Timestamp) {
    var hasReleased = false
    var isMore = true
    while isMore {
      isMore = false
      for delayIndex in waiting.indices {
        guard let item = waiting[delayIndex].firstDue(at: now) else { continue }
        guard hasWay(item) else {
          isHeldUp = true
          continue
        }
        _ = waiting[delayIndex].popDue(at: now)
        if let next = item.nextDelayIndex { move(item, to: next) } else { _ = admit(item) }
        isMore = true
        hasReleased = true
      }
    }
    if hasReleased { openGates() }
    dispatch()
  }

  /// Whether a due record may leave its retry topic now.
  private func hasWay(_ item: LaneItem) -> Bool {
    item.nextDelayIndex == nil
      ? hasPlace(for: item.source, bytes: item.bytes) : moving < parts.policy.recordsInFlight
  }

  /// Moves a record to another retry topic. The ledger records the new topic, because later records of the key in
  /// strict order are written to the same one.
  private func move(_ item: LaneItem, to delayIndex: Int) {
    let now = parts.clock.wallTime
    let id = item.ledgerID
    var write = LaneWrite(lane: epoch, finishes: item.position)
    switch ledger.verdict(for: id, arriving: item.arrival) {
    case .skip(let reason): parts.metrics.skipped(reason.rawValue, type: item.typeLabel)
    case .reapply: write.records = [parts.planner.moved(item, to: delayIndex, now: now)]
    case .run(let attempt):
      write.records = [parts.planner.moved(item, to: delayIndex, now: now)]
      write.entries = delaying(id, item, attempt: attempt, delayIndex: delayIndex)
    }
    moving += 1
    stage(write)
    submit(write)
  }

  /// Queues due timers with the records of their key, before records without a deadline. No other handler of the key
  /// runs at the same time, so a handler can read its state safely. Timers have places of their own: otherwise a full
  /// lane would not fire any.
  private func fireTimers(at now: Timestamp) {
    while let name = timers.firstDue(at: now) {
      guard firing.count < parts.policy.parallelism else {
        isHeldUp = true
        return
      }
      _ = timers.popDue(at: now)
      // The timer may have been withdrawn or moved since. A moved one has another entry in the heap.
      guard let timer = ledger.timer(name), timer.at <= now, firing.insert(name).inserted else { continue }
      _ = keys.admit(
        .timer(name), key: timer.key, group: FiredTimer.typeLabel, bytes: timer.payload.count, deadline: timer.at,
        hasOwnPlace: true)
    }
  }

  /// Removes entries older than the horizon from the ledger, and from its topic with tombstones.
  private func sweep(at now: Timestamp) {
    guard !isDraining, now >= sweptAt + Self.sweepInterval else { return }
    sweptAt = now
    let horizon = parts.policy.ledgerHorizon
    let old = ledger.expired(
      before: now - horizon, delayedBefore: now - horizon * Self.delayedHorizonFactor, parts: 1)
    guard !old.isEmpty else { return }
    for entry in old { ledger.stage(entry) }
    submit(LaneWrite(lane: epoch, entries: old))
  }
}

extension LaneRunner {
  /// Returns the offsets that the lane has read up to, and the age of its oldest unfinished record.
  func progress() -> (taken: [String: Int64], age: Duration) {
    // The end of a partition can lie after its last record, because transaction markers take offsets too.
    let ends = partitions.compactMap { partition in partition.end.map { (partition.partition.topic, $0) } }
    return (
      taken.dictionary.merging(ends) { max($0, $1) }, ages.oldest.map { max(.zero, parts.clock.wallTime - $0) } ?? .zero
    )
  }

  /// Returns the committed part of the ledger, to start from if the lane comes back to this process.
  func keptLedger() -> KeptLedger {
    ledger.dropStaged()
    return KeptLedger(ledger: ledger, end: ledgerEnd, since: parts.clock.now)
  }
}

/// The ledger of a lane that has left this process.
struct KeptLedger: Sendable {
  var ledger: Ledger
  /// The offset from which the ledger's topic has to be read.
  var end: Int64
  /// When the lane left.
  var since: MillraceClock.Instant

  /// Whether the ledger can still be used. Compaction keeps tombstones for a day (`delete.retention.ms`), so an older
  /// ledger could set a timer again that has fired. It would also take memory for a lane that may never come back.
  func isFresh(at now: MillraceClock.Instant) -> Bool { since.duration(to: now) < .seconds(3_600) }
}
