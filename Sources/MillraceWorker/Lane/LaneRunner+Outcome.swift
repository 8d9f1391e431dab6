// Turns the results of handler runs into writes, and applies writes to the lane after their commit.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords

extension LaneRunner: CommitLane {
  /// Processes the results of handler runs, then submits the records and timers that may run next.
  func collect() {
    let ends = pool.takeEnds()
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
      dispatch(isPoolsCall: true)
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
      return pool.hand(
        [.record(number, item, replacing: replacing, isNamed: watch.isOneAtATime)], to: self, isOwnCall: true)
    case .done, .delayed, .dead: break
    }
    finish(number, item, item.ledgerID, plan, replacing: replacing, began: end.began, now: now)
  }

  /// Ends the worker, because an outcome writes to an undeclared topic. The record or timer is left as it was.
  private func fail(writingTo topic: String) {
    fault.yield(
      MillraceError(
        .topics, "the worker \(parts.topics.worker) writes to a topic that it does not declare", at: topic,
        remedy: """
          declare it in the worker (`static let tables: Set<String> = ["\(topic)"]`), which then starts only if the \
          topic exists
          """))
  }

  /// Stages the changes of a plan and submits them to the committer.
  /// - Parameter began: When the handler began, or nil if none ran.
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
    case .delayed(let delayIndex, let reason):
      // A notification that is done stays done while its reapply is delayed.
      if replacing == nil { write.entries += delaying(id, item, attempt: plan.attempt, delayIndex: delayIndex) }
      parts.metrics.delayed(topic: parts.topics.retries[delayIndex], reason: reason, type: item.typeLabel)
      if DeadlineDanger.begins(
        after: now, until: plan.due ?? now, written: item.firstWritten, deadline: item.deadline)
      {
        parts.metrics.endangered(type: item.typeLabel)
      }
    case .dead(let reason):
      // A record that only claims an id must not block the genuine notification.
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
    // A reapplied notification was counted when it was first done.
    if replacing == nil, !plan.counts.isEmpty { write.entries += counterEntries(plan.counts) }
    stage(write)
    inHand.remove(item.position)
    keys.decided(number)
    submit(write)
  }

  private func ended(_ number: UInt64, _ fired: FiredTimer, _ timer: LaneTimer, _ result: HandlerResult) {
    let now = parts.clock.wallTime
    guard case .decided(let outcome) = result, let plan = parts.planner.plan(fired, outcome, now: now)
    else {
      // A timer has no record to delay. It is set again, and stays in the ledger until it succeeds.
      let again = now + parts.planner.schedule.shortest
      parts.logger.warning(
        "a timer failed; retrying", metadata: ["timer": "\(fired.name)", "result": "\(result)"])
      leave(number, fired.name)
      return expect(fired.name, due: again)
    }
    if case .undeclared(let topic) = plan.ending { return fail(writingTo: topic) }
    var write = LaneWrite(
      lane: epoch, job: .init(number: number), fires: PoisonDetector.mark(of: fired.name, timer), records: plan.records)
    parts.metrics.emitted(plan.events)
    let isSetAgain = plan.timers.contains { $0.name == fired.name }
    if ledger.timer(fired.name) == timer {
      if !isSetAgain { write.entries.append(.timer(fired.name, nil)) }
    } else if let moved = ledger.timer(fired.name) {
      // A notification has moved the timer while it ran, so it will fire again.
      expect(fired.name, due: moved.at)
    }
    write.entries += timerEntries(plan.timers, key: timer.key)
    keep(plan.states, in: &write)
    write.entries += counterEntries(plan.counts)
    stage(write)
    ended(number, fired.name)
    submit(write)
  }

  /// Dead-letters a timer that was in flight at three unclean starts.
  func deadLetter(_ number: UInt64, _ name: String, _ timer: LaneTimer, as mark: UInt64) {
    let letter = parts.planner.crashed(DeadTimer(name, timer), lane: epoch.lane, now: parts.clock.wallTime)
    let write = LaneWrite(
      lane: epoch, job: .init(number: number), fires: mark, records: [letter], entries: [.timer(name, nil)])
    parts.metrics.died(reason: PoisonDetector.reason, type: FiredTimer.typeLabel)
    stage(write)
    ended(number, name)
    submit(write)
  }

  /// Ends the run of a timer, so that the next record or timer of its key may run.
  private func ended(_ number: UInt64, _ timer: String) {
    firing.remove(timer)
    timersInHand[timer] = nil
    keys.decided(number)
    if isHeldUp { wakeUp.signal() }
  }

  /// Removes a timer without writing anything to Kafka.
  func leave(_ number: UInt64, _ timer: String) {
    ended(number, timer)
    keys.settled(number)
  }

  /// Adds the states that change to a write, each with its table row.
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

  /// Returns the ledger entries of a delayed record. A requeued dead letter is outside the strict order of its key.
  func delaying(_ id: LedgerKey, _ item: LaneItem, attempt: Int, delayIndex: Int) -> [LedgerEntry] {
    let delayIndex = item.isRequeued ? nil : delayIndex
    let handled = Handled(.delayed(attempt: attempt, delayIndex: delayIndex), at: parts.clock.wallTime)
    guard parts.policy.ordering == .strict else { return [.handled(id, handled)] }
    return ledger.entries(delaying: id, key: LedgerKey(hashing: item.key), as: handled)
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
    wakeUp.signal()
  }

  func stage(_ write: LaneWrite) {
    for entry in write.entries { ledger.stage(entry) }
  }

  /// Submits a write. During a turn of the lane, all writes are submitted at its end, in order.
  func submit(_ write: LaneWrite) {
    outbox.append(write)
    if !isGathering { sendOut() }
  }

  /// Runs one turn of the lane and submits its writes together at the end.
  func gather(_ turn: () -> Void) {
    guard !isGathering else { return turn() }
    isGathering = true
    turn()
    isGathering = false
    sendOut()
  }

  private func sendOut() {
    guard !outbox.isEmpty else { return }
    // The committer keeps this array, so its capacity cannot be reused.
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
          ? PoisonDetector.cleanMetadata : watch.metadata(of: position.topic, inFlight: inFlight, timers: timers))
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
    // Apply the page after its individual entries: it also records that they are stored on a page.
    if let page = sealed.page { ledger.restore(page) }
    keys.isOneAtATime = watch.isOneAtATime
    ages.finish(watermarks.offsets)
    parts.metrics.inFlight(keys.count, lane: epoch.lane)
    parts.metrics.ledger(ledger.count, lane: epoch.lane)
    openGates()
    dispatch()
  }
}
