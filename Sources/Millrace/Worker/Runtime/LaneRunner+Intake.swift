// How records come into a lane, and when they wait outside.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging

extension LaneRunner {
  private static let batchSize = 64

  /// Reads a partition until it is taken away. Not reading is the lane's back-pressure.
  nonisolated func take(from partition: any LogPartition) async throws {
    let source = parts.topics.source(of: partition.partition.topic)
    while await hasRoom(for: source) {
      let batch = try await partition.nextBatch(upTo: Self.batchSize)
      guard !batch.isEmpty else { return }
      // Headers are read outside of the actor: lanes are many, and so are cores.
      await admit(LaneItem.batch(batch, source: source))
    }
  }

  private func hasRoom(for source: LaneSource) async -> Bool {
    while !isDraining {
      let isOpen =
        switch source {
        case .live, .replay: hasPlace(for: source)
        case .retry(let tier): waiting.indices.contains(tier) && waiting[tier].hasRoom(for: 0)
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
        // Whoever requeues it knows how late it is.
        item.deadline = nil
      } else if item.deadline == nil {
        item.deadline = parts.deadline(item.envelope, item.firstWritten)
        if DeadlineDanger.hasBegun(at: parts.clock.wallTime, written: item.firstWritten, deadline: item.deadline) {
          parts.metrics.endangered(type: item.typeLabel)
        }
      }
      // What waits as long as it is to wait is no lag.
      ages.take(item.position, since: max(item.written, item.awaited ?? item.written))
      if case .retry(let tier) = item.source {
        await put(aside: item, on: tier)
      } else if !admit(item) {
        await arrive(item)
      }
    }
    dispatch()
  }

  /// A record of a tier waits in memory until its time there is over.
  private func put(aside item: LaneItem, on tier: Int) async {
    var item = item
    let appended = item.parkedAt ?? item.written
    let at: Timestamp
    switch parts.planner.schedule.step(
      tier: tier, appended: appended, due: item.awaited ?? appended, deadline: item.deadline)
    {
    case .run(let time): at = time
    case .move(let time, let next):
      at = time
      item.nextTier = next
    }
    item.due = at
    while !isDraining, !waiting[tier].insert(item, due: at, bytes: item.bytes) { await waitForRoom() }
    bell.ring()
  }

  /// A record whose time has come takes its place among those of its key.
  func arrive(_ item: LaneItem) async {
    while !isDraining {
      if admit(item) { return }
      dispatch()
      await waitForRoom()
    }
  }

  /// Hands out what may run. Asked whenever something came, left or was decided.
  /// - Parameter isCrewsCall: Whether a task of the crew asks, which goes on with the first.
  func dispatch(isCrewsCall: Bool = false) {
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
        // Asked first: what is done or dead already neither waits behind another nor dies of what killed a process.
        switch ledger.verdict(for: id, arriving: item.arrival, hasPassed: hasPassed) {
        case .run(let attempt):
          if attempt > item.attempt {
            parts.logger.warning(
              "a parked record did not come back from its tier; it runs as it was sent again",
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
    crew.hand(jobs, to: self, isOwnCall: isCrewsCall)
  }

  /// What a handler is to run for; nil where it is decided already what becomes of the record.
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
    // A lane that suspects its records names each before it runs.
    return .record(number, item, replacing: digest, isNamed: watch.isOneAtATime)
  }

  /// What a handler is to run for; nil where a record of its key withdrew the timer meanwhile, or moved it: another entry
  /// of the heap stands for it then.
  private func handOut(_ number: UInt64, timer name: String) -> LaneJob? {
    guard let timer = ledger.timer(name), timer.at <= parts.clock.wallTime else {
      leave(number, name)
      return nil
    }
    let mark = PoisonWatch.mark(of: name, timer)
    guard !watch.isCondemned(timer: mark) else {
      bury(number, name, timer, as: mark)
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
