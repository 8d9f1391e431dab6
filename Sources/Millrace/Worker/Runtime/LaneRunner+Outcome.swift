// From a handler's run to what is committed, and what the commit changes.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging

extension LaneRunner: CommitLane {
  /// Runs a handler; on the handler's own task.
  nonisolated func work(on job: LaneJob) async {
    switch job {
    case .record(let number, let item, let replacing):
      // A lane that suspects its records names each before it runs.
      if await isSuspicious, await !writeMark() { return }
      let journal = LaneJournal(lane: self)
      let began = parts.clock.wallTime
      let result = await parts.handler.run(item, journal: journal)
      await ended(number, item, result, journal: journal, began: began, replacing: replacing)
    case .timer(let name, let timer):
      let journal = LaneJournal(lane: self)
      let fired = FiredTimer(
        name: name, at: timer.at, payload: timer.payload, key: String(decoding: timer.key, as: UTF8.self))
      let result = await parts.handler.run(fired, journal: journal)
      await ended(fired, timer, result, journal: journal)
    }
  }

  private func ended(
    _ number: UInt64, _ item: LaneItem, _ result: HandlerResult, journal: LaneJournal, began: Timestamp,
    replacing: UInt32?
  ) {
    guard acceptsOutcomes else { return }
    close(journal)
    let now = parts.clock.wallTime
    let plan = parts.planner.plan(item, result, began: began, now: now)
    if case .again(let attempt) = plan.ending {
      var item = item
      item.provenance.attempt = attempt
      feed.yield(.record(number, item, replacing: replacing))
      return
    }
    finish(number, item, LedgerKey(id: item.id), plan, replacing: replacing)
    dispatch()
  }

  /// Stages what a plan means and hands it to the committer.
  func finish(_ number: UInt64, _ item: LaneItem, _ id: LedgerKey, _ plan: OutcomePlan, replacing: UInt32?) {
    let now = parts.clock.wallTime
    var write = LaneWrite(lane: epoch, job: number, finishes: item.position)
    let isUnchanged = plan.ending == .done && replacing == plan.digest
    if !isUnchanged { write.records = plan.records }
    switch plan.ending {
    case .done:
      if !isUnchanged { write.entries += resolving(id, item, Handled(.done(digest: plan.digest), at: now)) }
      parts.metrics.ended(.done, type: item.typeLabel)
    case .parked(let tier, let reason):
      // A notification that is done stays done while it waits to be run again.
      if replacing == nil {
        write.entries += parking(id, item, Handled(.parked(attempt: plan.attempt, tier: tier), at: now))
      }
      parts.metrics.parked(tier: parts.topics.retries[tier], reason: reason, type: item.typeLabel)
    case .dead(let reason):
      if replacing == nil { write.entries += resolving(id, item, Handled(.dead, at: now)) }
      parts.metrics.died(reason: reason, type: item.typeLabel)
    case .again: break
    }
    write.entries += timerEntries(plan.timers, key: item.key)
    stage(write)
    inHand.remove(item.position)
    keys.decided(number)
    submit(write)
    noteIdleness()
  }

  private func ended(_ fired: FiredTimer, _ timer: LaneTimer, _ result: HandlerResult, journal: LaneJournal) {
    guard acceptsOutcomes else { return }
    runningTimers -= 1
    close(journal)
    defer { noteIdleness() }
    let now = parts.clock.wallTime
    guard case .decided(let outcome) = result, outcome.decision == .done else {
      // A timer has no record to park: it is set again, and stands in the ledger until it has worked.
      let again = now + parts.planner.schedule.delays[0]
      parts.logger.warning("a timer failed and is tried again", metadata: ["timer": "\(fired.name)"])
      _ = timers.insert(fired.name, due: again)
      bell.ring()
      return
    }
    let plan = parts.planner.plan(fired, outcome, now: now)
    var write = LaneWrite(lane: epoch, records: plan.records)
    let isSetAgain = plan.timers.contains { $0.name == fired.name }
    if !isSetAgain { write.entries.append(.timer(fired.name, nil)) }
    write.entries += timerEntries(plan.timers, key: timer.key)
    stage(write)
    submit(write)
  }

  private var isSuspicious: Bool { watch.isOneAtATime }

  private func resolving(_ id: LedgerKey, _ item: LaneItem, _ handled: Handled) -> [LedgerEntry] {
    guard parts.policy.ordering == .strict else { return [.handled(id, handled)] }
    return ledger.entries(resolving: id, key: LedgerKey(hashing: item.key), as: handled)
  }

  private func parking(_ id: LedgerKey, _ item: LaneItem, _ handled: Handled) -> [LedgerEntry] {
    guard parts.policy.ordering == .strict else { return [.handled(id, handled)] }
    return ledger.entries(parking: id, key: LedgerKey(hashing: item.key), as: handled)
  }

  private func timerEntries(_ changes: [Outcome.Timer], key: [UInt8]) -> [LedgerEntry] {
    changes.map { change in
      guard let at = change.at else { return .timer(change.name, nil) }
      _ = timers.insert(change.name, due: at)
      bell.ring()
      return .timer(change.name, LaneTimer(at: at, key: key, payload: change.payload))
    }
  }

  private func stage(_ write: LaneWrite) {
    for entry in write.entries { ledger.stage(entry) }
  }

  /// Hands a write over. The committer takes calls in the order in which a lane makes them.
  func submit(_ write: LaneWrite) { parts.committer.submit(write) }

  // MARK: - Commit

  func seal(_ writes: [LaneWrite]) -> SealedWrites? {
    guard !isOver else { return nil }
    let offsets = watermarks.offsets(finishing: writes.compactMap(\.finishes)).map { position in
      let inFlight = inHand.filter { $0.topic == position.topic }.map(\.offset)
      return CommittedOffset(
        TopicPartition(topic: position.topic, partition: epoch.lane), offset: position.offset,
        metadata: isEnding ? PoisonWatch.cleanMetadata : watch.metadata(inFlight: inFlight))
    }
    let ledger = writes.flatMap(\.entries).map { entry in
      let record = LedgerRecord(entry)
      return ProducerRecord(
        topic: parts.topics.ledger, partition: epoch.lane, key: record.key, value: record.value)
    }
    return SealedWrites(offsets: offsets, ledger: ledger)
  }

  func committed(_ writes: [LaneWrite]) {
    for write in writes {
      if let position = write.finishes {
        watermarks.finish(position)
        watch.settled(position)
      }
      for entry in write.entries { ledger.settle(entry) }
      if let job = write.job { keys.settled(job) }
    }
    keys.isOneAtATime = watch.isOneAtATime
    ages.finish(watermarks.offsets)
    parts.metrics.inFlight(keys.count, lane: epoch.lane)
    parts.metrics.ledger(ledger.count, lane: epoch.lane)
    openGates()
    dispatch()
  }
}
