// Reads records into a lane, with backpressure.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import MillraceRecords
internal import MillraceCore

extension LaneRunner {
  private static let batchSize = 64

  /// Reads a partition until it is revoked. A full lane stops reading, which is its backpressure.
  nonisolated func take(from partition: any LogPartition) async throws {
    let source = parts.topics.source(of: partition.partition.topic)
    while await hasRoom(for: source) {
      let batch = try await partition.nextBatch(upTo: Self.batchSize)
      guard !batch.isEmpty else { return }
      // Headers are parsed outside of the actor, so several cores can share the work of a lane.
      await admit(LaneItem.batch(batch, source: source, clock: parts.clock))
    }
  }

  private func hasRoom(for source: LaneSource) async -> Bool {
    while !isDraining {
      let isOpen =
        switch source {
        case .live, .replay: hasPlace(for: source)
        case .retry(let delayIndex): waiting.indices.contains(delayIndex) && waiting[delayIndex].hasRoom(for: 0)
        }
      if isOpen { return true }
      await waitForRoom()
    }
    return false
  }

  private func admit(_ items: [LaneItem]) async {
    for item in items {
      guard !isDraining else { return }
      taken[taken.place(of: item.position.topic, default: 0)] = item.position.offset + 1
      guard watermarks.take(item.position) else { continue }
      var item = item
      if item.isRequeued {
        // The operator requeued the record knowing that it was late.
        item.deadline = nil
      } else if item.deadline == nil {
        item.deadline = parts.deadline(item.envelope, item.firstWritten)
        if DeadlineDanger.hasBegun(at: parts.clock.wallTime, written: item.firstWritten, deadline: item.deadline) {
          parts.metrics.endangered(type: item.typeLabel)
        }
      }
      // A wait as long as planned is not lag.
      ages.take(item.position, since: max(item.written, item.awaited ?? item.written))
      if case .retry(let delayIndex) = item.source {
        await put(aside: item, on: delayIndex)
      } else if !admit(item) {
        await arrive(item)
      }
    }
    dispatch()
  }

  /// Keeps a record of a retry topic in memory until its delay there ends.
  private func put(aside item: LaneItem, on delayIndex: Int) async {
    var item = item
    let appended = item.delayedAt ?? item.written
    let at: Timestamp
    switch parts.planner.schedule.step(
      delayIndex: delayIndex, appended: appended, due: item.awaited ?? appended, deadline: item.deadline)
    {
    case .run(let time): at = time
    case .move(let time, let next):
      at = time
      item.nextDelayIndex = next
    }
    item.due = at
    while !isDraining, !waiting[delayIndex].insert(item, due: at, bytes: item.bytes) { await waitForRoom() }
    wakeUp.signal()
  }

  /// Admits a record to the queue of its key, after waiting for room if necessary.
  func arrive(_ item: LaneItem) async {
    while !isDraining {
      if admit(item) { return }
      dispatch()
      await waitForRoom()
    }
  }

  /// Submits the records and timers that may run. Called after every arrival, completion and decision.
  /// - Parameter isPoolsCall: Whether a task of the handler pool makes the call. It then runs the first job itself.
  func dispatch(isPoolsCall: Bool = false) {
    var jobs: [LaneJob] = []
    gather {
      while !isDraining, let job = keys.next() {
        let item: LaneItem
        switch job.record {
        case .record(let record): item = record
        case .timer(let name):
          handOut(job.number, timer: name).map { jobs.append($0) }
          continue
        }
        let id = item.ledgerID
        // Ask the ledger first: a notification that is done or dead neither waits nor counts as the cause of a crash.
        switch ledger.verdict(for: id, arriving: item.arrival, hasPassed: hasPassed) {
        case .run(let attempt):
          if attempt > item.attempt {
            parts.logger.warning(
              "a delayed record did not return from its retry topic; running the copy that arrived later",
              metadata: ["lane": "\(epoch.lane)", "notification": "\(item.id)"])
          }
          handOut(job.number, item, id, attempt: attempt, replacing: nil).map { jobs.append($0) }
        case .reapply(let attempt, let digest):
          handOut(job.number, item, id, attempt: attempt, replacing: digest).map { jobs.append($0) }
        case .skip(let reason):
          parts.metrics.skipped(reason.rawValue, type: item.typeLabel)
          keys.decided(job.number)
          submit(
            LaneWrite(lane: epoch, job: .init(number: job.number, source: item.source), finishes: item.position))
        }
      }
    }
    pool.hand(jobs, to: self, isOwnCall: isPoolsCall)
  }

  /// Returns the job for a record, or nil if its outcome is decided without a handler run.
  private func handOut(
    _ number: UInt64, _ item: LaneItem, _ id: LedgerKey, attempt: Int, replacing digest: UInt32?
  ) -> LaneJob? {
    if watch.isCondemned(item.position) {
      let now = parts.clock.wallTime
      finish(number, item, id, parts.planner.crashed(item, now: now), replacing: digest, now: now)
    } else if let plan = isBehind(item, id) {
      finish(number, item, id, plan, replacing: digest, now: parts.clock.wallTime)
    } else {
      return job(number, item, attempt: attempt, replacing: digest)
    }
    return nil
  }

  private func job(_ number: UInt64, _ item: LaneItem, attempt: Int, replacing digest: UInt32?) -> LaneJob {
    var item = item
    item.attempt = attempt
    if let due = item.due { parts.metrics.late(by: parts.clock.wallTime - due) }
    inHand.insert(item.position)
    // A lane that suspects its records commits the position of each one before it runs.
    return .record(number, item, replacing: digest, isNamed: watch.isOneAtATime)
  }

  /// Returns the job for a timer. Returns nil for a poisoned timer, and for one that a record of its key has withdrawn
  /// or moved meanwhile. A moved timer has another entry in the heap.
  private func handOut(_ number: UInt64, timer name: String) -> LaneJob? {
    guard let timer = ledger.timer(name), timer.at <= parts.clock.wallTime else {
      leave(number, name)
      return nil
    }
    let mark = PoisonDetector.mark(of: name, timer)
    guard !watch.isCondemned(timer: mark) else {
      deadLetter(number, name, timer, as: mark)
      return nil
    }
    timersInHand[name] = mark
    return .timer(number, name, timer, isNamed: watch.isOneAtATime)
  }

  private func isBehind(_ item: LaneItem, _ id: LedgerKey) -> OutcomePlan? {
    guard parts.policy.ordering == .strict else { return nil }
    let predecessor = ledger.predecessor(
      of: id, key: LedgerKey(hashing: item.key), arriving: item.arrival, behind: item.behind, hasPassed: hasPassed)
    return predecessor.map { parts.planner.behind(item, $0, now: parts.clock.wallTime) }
  }
}
