// From a handler's run to what is committed, and what the commit changes.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging

extension LaneRunner: CommitLane {
  /// Takes the outcomes of what ran, and hands out what may run now.
  func collect() {
    let ends = crew.takeEnds()
    guard acceptsOutcomes else { return }
    let now = parts.clock.wallTime
    gather {
      for end in ends {
        close(end.journal)
        switch end.job {
        case .record(let number, let item, let replacing, _): ended(number, item, end, replacing: replacing, now: now)
        case .timer(let number, let name, let timer, _): ended(number, FiredTimer(name, timer), timer, end.result)
        }
      }
      dispatch(isCrewsCall: true)
    }
    noteIdleness()
  }

  private func ended(_ number: UInt64, _ item: LaneItem, _ end: LaneEnd, replacing: UInt32?, now: Timestamp) {
    let plan = parts.planner.plan(item, end.result, began: end.began, now: now)
    switch plan.ending {
    case .undeclared(let topic): return fail(writingTo: topic)
    case .again(let attempt):
      var item = item
      item.attempt = attempt
      return crew.hand(
        [.record(number, item, replacing: replacing, isNamed: watch.isOneAtATime)], to: self, isOwnCall: true)
    case .done, .parked, .dead: break
    }
    finish(number, item, item.ledgerID, plan, replacing: replacing, began: end.began, now: now)
  }

  /// Ends the worker, for nothing that it decides so could be written. What it ran for is left as it was.
  private func fail(writingTo topic: String) {
    fault.yield(
      MillraceError(
        .topics, "the worker \(parts.topics.worker) writes to a topic that it does not declare", at: topic,
        remedy: """
          add it to the worker (`static let tables: Set<String> = ["\(topic)"]`): then it starts only where the topic is \
          there
          """))
  }

  /// Stages what a plan means and hands it to the committer.
  /// - Parameter began: When its handler did; nil: none ran.
  func finish(
    _ number: UInt64, _ item: LaneItem, _ id: LedgerKey, _ plan: OutcomePlan, replacing: UInt32?,
    began: Timestamp? = nil, now: Timestamp
  ) {
    var write = LaneWrite(lane: epoch, job: .init(number: number, source: item.source), finishes: item.position)
    let isUnchanged = plan.ending == .done && replacing == plan.digest
    if !isUnchanged {
      write.records = plan.records
      parts.metrics.emitted(plan.events)
    }
    switch plan.ending {
    case .done:
      if !isUnchanged { write.entries = resolving(id, item, Handled(.done(digest: plan.digest), at: now)) }
      parts.metrics.ended(.done, type: item.typeLabel)
    case .parked(let tier, let reason):
      // A notification that is done stays done while it waits to be run again.
      if replacing == nil { write.entries += parking(id, item, attempt: plan.attempt, tier: tier) }
      parts.metrics.parked(tier: parts.topics.retries[tier], reason: reason, type: item.typeLabel)
      if DeadlineDanger.begins(
        after: now, until: plan.due ?? now, written: item.firstWritten, deadline: item.deadline)
      {
        parts.metrics.endangered(type: item.typeLabel)
      }
    case .dead(let reason):
      // Whatever claims an id without being that notification must not keep the genuine one out.
      let isKnown = ledger[id] != nil
      if replacing == nil, isKnown || !plan.isForeign {
        write.entries += resolving(id, item, Handled(.dead, at: now))
      }
      parts.metrics.died(reason: reason, type: item.typeLabel)
    case .again, .undeclared: break
    }
    let timers = plan.timers(replacing: replacing, began: began ?? now)
    if !timers.isEmpty { write.entries += timerEntries(timers, key: item.key) }
    keep(plan.states, in: &write)
    // What is run again on an operator's word was counted when it was done first.
    if replacing == nil, !plan.counts.isEmpty { write.entries += counterEntries(plan.counts) }
    stage(write)
    inHand.remove(item.position)
    keys.decided(number)
    submit(write)
  }

  private func ended(_ number: UInt64, _ fired: FiredTimer, _ timer: LaneTimer, _ result: HandlerResult) {
    let now = parts.clock.wallTime
    guard case .decided(let outcome) = result, outcome.decision == .done,
      let plan = parts.planner.plan(fired, outcome, now: now)
    else {
      // A timer has no record to park: it is set again, and stands in the ledger until it has worked.
      let again = now + parts.planner.schedule.shortest
      parts.logger.warning(
        "a timer failed and is tried again", metadata: ["timer": "\(fired.name)", "result": "\(result)"])
      leave(number, fired.name)
      return expect(fired.name, due: again)
    }
    if case .undeclared(let topic) = plan.ending { return fail(writingTo: topic) }
    var write = LaneWrite(
      lane: epoch, job: .init(number: number), fires: PoisonWatch.mark(of: fired.name, timer), records: plan.records)
    parts.metrics.emitted(plan.events)
    let isSetAgain = plan.timers.contains { $0.name == fired.name }
    if ledger.timer(fired.name) == timer {
      if !isSetAgain { write.entries.append(.timer(fired.name, nil)) }
    } else if let moved = ledger.timer(fired.name) {
      // Set by a notification while it ran: that one is still to come.
      expect(fired.name, due: moved.at)
    }
    write.entries += timerEntries(plan.timers, key: timer.key)
    keep(plan.states, in: &write)
    write.entries += counterEntries(plan.counts)
    stage(write)
    ended(number, fired.name)
    submit(write)
  }

  /// A timer that was in hand when its process died too often is given to a person.
  func bury(_ number: UInt64, _ name: String, _ timer: LaneTimer, as mark: UInt64) {
    let letter = parts.planner.crashed(DeadTimer(name, timer), lane: epoch.lane, now: parts.clock.wallTime)
    let write = LaneWrite(
      lane: epoch, job: .init(number: number), fires: mark, records: [letter], entries: [.timer(name, nil)])
    parts.metrics.died(reason: PoisonWatch.reason, type: FiredTimer.typeLabel)
    stage(write)
    ended(number, name)
    submit(write)
  }

  /// A timer has run: the next of its key may.
  private func ended(_ number: UInt64, _ timer: String) {
    firing.remove(timer)
    timersInHand[timer] = nil
    keys.decided(number)
    if isHeldUp { bell.ring() }
  }

  /// A timer leaves without anything that Kafka has to know.
  func leave(_ number: UInt64, _ timer: String) {
    ended(number, timer)
    keys.settled(number)
  }

  /// States that change, each with the record that tells others.
  private func keep(_ states: [KeptState], in write: inout LaneWrite) {
    for state in states where ledger.state(state.name) != state.value {
      write.entries.append(.state(state.name, state.value))
      if let row = state.row { write.records.append(row) }
    }
  }

  private func resolving(_ id: LedgerKey, _ item: LaneItem, _ handled: Handled) -> [LedgerEntry] {
    guard parts.policy.ordering == .strict else { return [.handled(id, handled)] }
    return ledger.entries(resolving: id, key: LedgerKey(hashing: item.key), as: handled)
  }

  /// What the ledger is to know of a record that waits on a tier. A dead letter that was requeued stands outside of the
  /// order: its key went on without it.
  func parking(_ id: LedgerKey, _ item: LaneItem, attempt: Int, tier: Int) -> [LedgerEntry] {
    let tier = item.isRequeued ? nil : tier
    let handled = Handled(.parked(attempt: attempt, tier: tier), at: parts.clock.wallTime)
    guard parts.policy.ordering == .strict else { return [.handled(id, handled)] }
    return ledger.entries(parking: id, key: LedgerKey(hashing: item.key), as: handled)
  }

  func timerEntries(_ changes: [Outcome.Timer], key: [UInt8]) -> [LedgerEntry] {
    changes.map { change in
      guard let at = change.at else { return .timer(change.name, nil) }
      expect(change.name, due: at)
      return .timer(change.name, LaneTimer(at: at, key: key, payload: change.payload))
    }
  }

  private func counterEntries(_ counts: [String: Int64]) -> [LedgerEntry] {
    counts.sorted { $0.key < $1.key }.map { ledger.adding($0.value, to: $0.key) }
  }

  private func expect(_ timer: String, due: Timestamp) {
    _ = timers.insert(timer, due: due)
    bell.ring()
  }

  func stage(_ write: LaneWrite) {
    for entry in write.entries { ledger.stage(entry) }
  }

  /// Hands a write over, at the end of a turn with all that follows from it. The committer takes them in the order in
  /// which a lane makes them.
  func submit(_ write: LaneWrite) {
    outbox.append(write)
    if !isGathering { sendOut() }
  }

  /// One turn of the lane: what it submits is handed over at once at its end.
  func gather(_ turn: () -> Void) {
    guard !isGathering else { return turn() }
    isGathering = true
    turn()
    isGathering = false
    sendOut()
  }

  private func sendOut() {
    guard !outbox.isEmpty else { return }
    // The committer keeps the array as it is: its room goes with it.
    let writes = outbox
    outbox = []
    parts.committer.submit(writes, of: epoch)
  }

  // MARK: - Commit

  func seal(_ writes: [LaneWrite]) -> SealedWrites? {
    guard !isOver else { return nil }
    let timers = Array(timersInHand.values)
    let offsets = watermarks.offsets(finishing: writes.compactMap(\.finishes)).map { position in
      let inFlight = inHand.filter { $0.topic == position.topic }.map(\.offset)
      return CommittedOffset(
        TopicPartition(topic: position.topic, partition: epoch.lane), offset: position.offset,
        metadata: isEnding
          ? PoisonWatch.cleanMetadata : watch.metadata(of: position.topic, inFlight: inFlight, timers: timers))
    }
    let paged = ledger.paged(LedgerEntry.withoutPassedCounts(writes.flatMap(\.entries)))
    var entries = paged.rest
    var written: LedgerEntry?
    if let page = paged.page {
      var generator = SystemRandomNumberGenerator()
      let entry = LedgerEntry.page(LedgerPage.ID(at: parts.clock.wallTime, generator.next()), page)
      entries.append(entry)
      written = entry
    }
    let records = entries.map { entry in
      let record = LedgerRecord(entry)
      return ProducerRecord(
        topic: parts.topics.ledger, partition: epoch.lane, key: record.key, value: record.value)
    }
    return SealedWrites(offsets: offsets, ledger: records, page: written)
  }

  func committed(_ writes: [LaneWrite], as sealed: SealedWrites) {
    for write in writes {
      for entry in write.entries { ledger.settle(entry) }
      if let timer = write.fires { watch.settled(timer: timer) }
      if let position = write.finishes {
        watermarks.finish(position)
        watch.settled(position)
      } else if write.job == nil {
        continue
      }
      release(write.job)
    }
    // Over the same notifications one by one: it says besides that they are on a page.
    if let page = sealed.page { ledger.restore(page) }
    keys.isOneAtATime = watch.isOneAtATime
    ages.finish(watermarks.offsets)
    parts.metrics.inFlight(keys.count, lane: epoch.lane)
    parts.metrics.ledger(ledger.count, lane: epoch.lane)
    openGates()
    dispatch()
  }
}
