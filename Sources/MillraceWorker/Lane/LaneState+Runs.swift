// The part of a lane's state machine that starts handlers and takes their results.

internal import AppStore
internal import Logging
internal import MillraceCore
internal import MillraceRecords

// MARK: - Handlers start

extension LaneState {
  /// Starts the records and timers that may run.
  mutating func dispatch(now: Timestamp) {
    while isRunning, let next = keys.next() {
      let job = LaneJob(number: next.number, input: next.record, needsCrashMark: watch.isOneAtATime)
      switch job.input {
      case .record(let item): start(job, item, now: now)
      case .timer(let timer): start(job, timer, now: now)
      }
    }
  }

  private mutating func start(_ job: LaneJob, _ item: LaneItem, now: Timestamp) {
    let id = item.ledgerID
    let (schedule, waiting, startedAt) = (rules.planner.schedule, waiting, startedAt)
    // Whether a record delayed like this would have returned from its retry topic by now.
    func hasPassed(_ handled: Handled) -> Bool {
      RetryDelayPassage(
        delays: schedule.delays, nextDue: waiting.map(\.nextDue), started: startedAt, now: now
      ).hasPassed(handled)
    }
    if isErased(item) { return drop(job, item) }
    var (job, item) = (job, item)
    let attempt: Int
    // Ask the ledger first: a notification that is done or dead neither waits nor counts as the cause of a crash.
    switch ledger.verdict(for: id, arriving: item.arrival, reapply: item.reapply, hasPassed: hasPassed) {
    case .run(let next):
      if next > item.attempt {
        rules.logger.warning(
          "a delayed record did not return from its retry topic; running the copy that arrived later",
          metadata: ["lane": "\(epoch.lane)", "notification": "\(item.id)"])
      }
      attempt = next
    case .reapply(let next, let digest):
      attempt = next
      job.replacing = digest
    case .skip(let reason):
      rules.metrics.skipped(reason.rawValue, type: item.typeLabel)
      decided(job)
      return submit(
        LaneWrite(lane: epoch, finishes: item.position, entries: ledger.entries(counting: .skipped, of: item)))
    }
    if watch.isPoisoned(item.position) {
      return finish(job, item, rules.planner.crashed(item, now: now), began: now, now: now)
    }
    if isStrict,
      let predecessor = ledger.predecessor(
        of: id, key: LedgerKey(hashing: item.key), arriving: item.arrival, behind: item.behind, hasPassed: hasPassed)
    {
      return finish(job, item, rules.planner.behind(item, predecessor, now: now), began: now, now: now)
    }
    item.attempt = attempt
    job.input = .record(item)
    if let due = item.due { rules.metrics.late(by: now - due) }
    running.insert(item.position)
    actions.jobs.append(job)
  }

  /// Starts a timer, unless a record of its key has withdrawn or moved it meanwhile.
  private mutating func start(_ job: LaneJob, _ queued: NamedTimer, now: Timestamp) {
    guard let timer = ledger.timer(queued.name), timer.due <= now else { return decided(job) }
    var job = job
    let named = NamedTimer(queued.name, timer)
    job.input = .timer(named)
    let mark = PoisonDetector.mark(of: named)
    guard !watch.isPoisoned(timer: mark) else { return deadLetter(job, named, as: mark, now: now) }
    runningTimers[named.name] = mark
    actions.jobs.append(job)
  }

  /// Dead-letters a timer that kills the process.
  private mutating func deadLetter(_ job: LaneJob, _ timer: NamedTimer, as mark: UInt64, now: Timestamp) {
    let (record, letter) = rules.planner.crashed(timer, lane: epoch.lane, now: now)
    died(timer, letter.reason, letter.detail)
    decided(job)
    submit(LaneWrite(lane: epoch, fires: mark, records: [record], entries: [.timer(timer.name, nil)]))
  }

  /// Frees the place of a record or timer, so that the next one of its key may run.
  mutating func decided(_ job: LaneJob) {
    switch job.input {
    case .record(let item):
      running.remove(item.position)
      quota.free(item.source)
    case .timer(let timer):
      firing.remove(timer.name)
      runningTimers[timer.name] = nil
    }
    keys.decided(job.number)
    madeRoom()
  }

  /// Lets readers and the clock know that something has left the lane.
  mutating func madeRoom() {
    actions.hasRoom = true
    if isHeldUp { actions.isTimeNews = true }
  }
}

// MARK: - Handlers end

extension LaneState {
  /// Takes the result of a handler run.
  /// - Parameter open: The effects that the run began but did not end. They become available to the next run.
  mutating func ended(_ job: LaneJob, _ result: HandlerResult, open: Set<String>, began: Timestamp, now: Timestamp) {
    for name in open { ledger.leaveEffect(name) }
    keys.resume(job.number)
    let mustNotCount = withdrawn.remove(job.number) != nil
    switch job.input {
    case .record(let item) where mustNotCount:
      if isErased(item) { return drop(job, item) }
      // Apple signed it after the erasure. The handler has seen what was erased, so it runs again.
      runAgain(job, item)
    case .record(let item): ended(job, item, result, began: began, now: now)
    case .timer(let timer) where mustNotCount:
      decided(job)
      submit(LaneWrite(lane: epoch, fires: PoisonDetector.mark(of: timer)))
    case .timer(let timer): ended(job, timer, result, now: now)
    }
  }

  private mutating func ended(
    _ job: LaneJob, _ item: LaneItem, _ result: HandlerResult, began: Timestamp, now: Timestamp
  ) {
    var item = item
    // Without an answer, the record keeps the last one.
    if let excerpt = result.answer?.excerpt { item.excerpt = excerpt }
    var plan = rules.planner.plan(item, result, began: began, now: now)
    plan.answer = result.answer
    switch plan.ending {
    case .undeclared(let topic): fail(writingTo: topic)
    case .again(let attempt):
      item.attempt = attempt
      runAgain(job, item)
    case .done, .delayed, .dead: finish(job, item, plan, began: began, now: now)
    }
  }

  private mutating func runAgain(_ job: LaneJob, _ item: LaneItem) {
    actions.jobs.append(
      LaneJob(
        number: job.number, input: .record(item), replacing: job.replacing, needsCrashMark: watch.isOneAtATime))
  }

  private mutating func ended(_ job: LaneJob, _ timer: NamedTimer, _ result: HandlerResult, now: Timestamp) {
    let name = timer.name
    guard case .decided(let outcome) = result,
      let plan = rules.planner.plan(timer, outcome, lane: epoch.lane, now: now)
    else {
      guard let turn = result.turn else { return failed(job, timer, result, now: now) }
      decided(job)
      ledger.postponeTimer(name, until: max(turn, now + .milliseconds(1)))
      actions.isTimeNews = true
      return
    }
    if case .undeclared(let topic) = plan.ending { return fail(writingTo: topic) }
    rules.metrics.emitted(plan.events)
    if case .dead(let reason) = plan.ending { died(timer, reason, plan.detail, outcome.answer) }
    if let moved = ledger.timer(name), moved != timer.timer {
      // A notification has moved the timer while it ran, so it will fire again.
      ledger.postponeTimer(name, until: moved.due)
    }
    let write = LaneWrite(
      lane: epoch, fires: PoisonDetector.mark(of: timer), records: plan.records + ledger.rows(plan),
      entries: ledger.entries(plan, of: timer))
    decided(job)
    submit(write)
  }

  /// Delays a timer whose handler failed, by the retry schedule, or makes it a dead letter after the last attempt. A timer
  /// has no record to delay, so its ledger entry has the count and the time.
  private mutating func failed(_ job: LaneJob, _ timer: NamedTimer, _ result: HandlerResult, now: Timestamp) {
    decided(job)
    let failure = result.timerFailure(at: now)
    rules.metrics.timerFailed(reason: failure.reason)
    rules.failures.timerFailed(
      .init(
        subject: timer.logged, attempt: timer.attempts + 1, reason: failure.reason, detail: failure.detail,
        answer: result.answer))
    var write = LaneWrite(lane: epoch, fires: PoisonDetector.mark(of: timer))
    switch rules.planner.failed(timer, failure, lane: epoch.lane, now: now) {
    case _ where ledger.timer(timer.name) != timer.timer:
      // It was set again or withdrawn while it ran, and begins anew.
      if let moved = ledger.timer(timer.name) { ledger.postponeTimer(timer.name, until: moved.due) }
      actions.isTimeNews = true
    case .later(let again):
      write.entries = [.timer(timer.name, again)]
      #if PLANTED_FAULTS
        if PlantedFault.failedTimerLost.isActive { write.entries = [.timer(timer.name, nil)] }
      #endif
    case .dead(let record, let letter):
      died(timer, letter.reason, letter.detail, result.answer)
      write.records = [record]
      write.entries = [.timer(timer.name, nil)]
    }
    submit(write)
  }

  /// Counts and logs a timer's dead letter.
  private func died(_ timer: NamedTimer, _ reason: String, _ detail: String, _ answer: CallAnswer? = nil) {
    rules.metrics.died(reason: reason, type: FiredTimer.typeLabel)
    rules.failures.died(
      .init(
        subject: timer.logged, attempt: timer.attempts + 1, reason: reason, detail: detail, answer: answer))
  }

  /// Writes what a plan decides about a record.
  /// - Parameter began: When the handler began, or now if none ran.
  private mutating func finish(
    _ job: LaneJob, _ item: LaneItem, _ plan: OutcomePlan, began: Timestamp, now: Timestamp
  ) {
    let isUnchanged = plan.isUnchanged(replacing: job.replacing)
    var write = LaneWrite(lane: epoch, finishes: item.position)
    if !isUnchanged { write.records = plan.records }
    #if PLANTED_FAULTS
      if PlantedFault.delayedRecordLost.isActive, case .delayed = plan.ending { write.records = [] }
    #endif
    if !plan.states.isEmpty { write.records += ledger.rows(plan) }
    if let ending = plan.runEnding(replacing: job.replacing, isDryRun: rules.dryRun != nil) {
      write.entries = ledger.entries(counting: ending, of: item, events: isUnchanged ? 0 : plan.events.count)
      rules.dryRun?.ended(item, ending, write.records)
    }
    write.entries.add(
      ledger.entries(plan, of: item, replacing: job.replacing, began: began, isStrict: isStrict, at: now))
    rules.count(plan, of: item, isUnchanged: isUnchanged, now: now)
    decided(job)
    submit(write)
  }

  /// Ends the worker, because an outcome writes to an undeclared topic. The record or timer is left as it was.
  private mutating func fail(writingTo topic: String) {
    actions.fault = MillraceError(
      .topics, "the worker \(rules.topics.worker) writes to a topic that it does not declare", at: topic,
      remedy: """
        declare it in the worker (`static let outputTopics: Set<String> = ["\(topic)"]`), which then starts only if the \
        topic exists
        """)
  }
}

// A method of the rules, because one of the state would copy the whole state for each record.
extension LaneRules {
  /// Counts and logs how a record ended.
  func count(_ plan: OutcomePlan, of item: LaneItem, isUnchanged: Bool, now: Timestamp) {
    if !isUnchanged { metrics.emitted(plan.events) }
    func failure(_ reason: String) -> FailureLog.Failure {
      .init(subject: item.logged, attempt: plan.attempt, reason: reason, detail: plan.detail, answer: plan.answer)
    }
    switch plan.ending {
    case .done: metrics.ended(.done, type: item.typeLabel)
    case .delayed(let delayIndex, let reason):
      metrics.delayed(topic: topics.retries[delayIndex], reason: reason, type: item.typeLabel)
      // A record that waits for an earlier one of its key has not failed.
      if reason != OutcomePlan.behindItsKey { failures.retried(failure(reason)) }
      if DeadlineDanger.begins(
        after: now, until: plan.due ?? now, written: item.firstWritten, deadline: item.deadline)
      {
        metrics.endangered(type: item.typeLabel)
      }
    case .dead(let reason):
      metrics.died(reason: reason, type: item.typeLabel)
      failures.died(failure(reason))
    case .again, .undeclared: break
    }
  }
}
