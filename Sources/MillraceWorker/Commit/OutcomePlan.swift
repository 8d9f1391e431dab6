// Plans the records to write for the result of a handler run. Pure: the same result and time give the same plan.

internal import AppStore
internal import KafkaClient
internal import MillraceCore
internal import MillraceRecords

/// The consequences of one handler run.
struct OutcomePlan: Sendable {
  /// How the record ended.
  enum Ending: Sendable, Hashable {
    case done
    /// Delayed in a retry topic; `delayIndex` is the index among the retry delays.
    case delayed(delayIndex: Int, reason: String)
    case dead(reason: String)
    /// Not ended: the handler runs again at once, as attempt `attempt`.
    case again(attempt: Int)
    /// Not ended: the outcome writes to a topic, named without prefix, that the worker does not declare. The worker is
    /// at fault and not the record, so the worker ends.
    case undeclared(topic: String)
  }

  /// The reason code of a record that waits for an earlier one of its key.
  static let behindItsKey = "behind-its-key"

  var ending: Ending
  /// The number of handler runs so far, as a delayed record states it.
  var attempt = 0
  /// The description of the failure, for the log.
  var detail = ""
  /// The answer of the call that failed, for the log.
  var answer: CallAnswer?
  /// When a delayed record is due.
  var due: Timestamp?
  var records: [ProducerRecord] = []
  /// The name of each event among the records.
  var events: [String] = []
  var timers: [Outcome.Timer] = []
  var states: [KeptState] = []
  var counts: [String: Int64] = [:]
  /// Whether the record cannot be verified as the notification that its id names.
  var isForeign = false
  /// The digest of the outcome, which decides whether `--reapply` publishes its events.
  var digest: UInt32 = 0

  /// Whether the record will not run again.
  var isFinal: Bool {
    switch ending {
    case .done, .dead: true
    case .delayed, .again, .undeclared: false
    }
  }

  /// Whether a reapply has led to the outcome that the notification had already. Its events are not published again.
  func isUnchanged(replacing digest: UInt32?) -> Bool {
    ending == .done && digest.map(OutcomeDigest.compared) == OutcomeDigest.compared(self.digest)
  }

  /// Returns the last change of each timer that has to be set or withdrawn.
  ///
  /// In a reapply with the same outcome or without one yet, a timer that was due before the run began is assumed to have
  /// fired. It is left out, because the ledger forgets fired timers and setting it would publish its event again. If the
  /// reapply is done with a different outcome, all timers are set; see docs/adr/0013-what-reapply-compares.md.
  /// - Parameters:
  ///   - digest: The digest of the outcome that this one replaces, or nil if there is none.
  ///   - began: When the handler began. No timer of its key has fired since then.
  func timers(replacing digest: UInt32?, began: Timestamp) -> [Outcome.Timer] {
    var names: Set<String> = []
    let last = Array(timers.reversed().filter { names.insert($0.name).inserted }.reversed())
    guard let digest, ending != .done || digest == self.digest else { return last }
    return last.filter { $0.at.map { $0 >= began } ?? true }
  }
}

/// A state that a handler keeps, and its table row.
struct KeptState: Sendable {
  var name: String
  var value: [UInt8]?
  var row: ProducerRecord?
}

/// Plans the outcomes of one worker.
struct OutcomePlanner: Sendable {
  let records: OutcomeRecords
  let schedule: RetrySchedule

  /// Plans the consequences of a record's handler run that began at `began`.
  func plan(_ item: LaneItem, _ result: HandlerResult, began: Timestamp, now: Timestamp) -> OutcomePlan {
    switch result {
    case .decided(let outcome):
      do throws(Unwritable) {
        return try decided(item, outcome, began: began, now: now)
      } catch {
        switch error {
        case .oversize(let description):
          // Kafka would abort the transaction and every repetition of it.
          return dead(
            item, Failure("outcome-too-large", description), remedy: "reduce what the handler writes, then requeue it",
            history: item.historyAfterRun, now: now)
        case .reserved(let description):
          return dead(
            item, Failure("name-reserved", description), remedy: "use another name in the handler, then requeue it",
            history: item.historyAfterRun, now: now)
        case .undeclared(let topic): return OutcomePlan(ending: .undeclared(topic: topic))
        }
      }
    case .undecodable(let error):
      var plan = dead(
        item, Failure(error.reason.rawValue, error.description),
        remedy: error.reason == .unverified
          ? """
          check trust.roots, apps and their environments in the configuration of this worker's process, correct them, \
          restart it, then requeue it; discard it only if no other worker accepted it (millrace timeline)
          """
          : "find out who wrote the record; workers cannot process it", now: now)
      plan.isForeign = true
      return plan
    case .failed(.deadLetter(let code), _, let detail, _):
      return dead(
        item, Failure(code, detail), remedy: "fix the cause, then requeue it", history: item.historyAfterRun,
        now: now)
    case .failed(.retryAt(let time), let reason, let detail, _):
      return later(item, after: max(.zero, time - now), Failure(reason, detail), began: began, now: now)
    case .failed(.wait(let turn), let reason, _, _):
      return waiting(item, until: turn, reason: reason, began: began, now: now)
    case .failed(.retryBySchedule, let reason, let detail, _):
      return later(item, after: nil, Failure(reason, detail), began: began, now: now)
    }
  }

  private func decided(
    _ item: LaneItem, _ outcome: Outcome, began: Timestamp, now: Timestamp
  ) throws(Unwritable) -> OutcomePlan {
    if outcome.isIgnored {
      return OutcomePlan(ending: .done, digest: outcome.delivered.map(OutcomeDigest.delivery) ?? OutcomeDigest().value)
    }
    let cause = OutcomeRecords.Cause(
      id: item.id, key: item.envelope.subject ?? String(decoding: item.key, as: UTF8.self),
      traceParent: item.envelope.traceParent,
      revision: item.reapply)
    var plan: OutcomePlan
    switch outcome.decision {
    case .done(let results): return try done(results, outcome, cause, now: now)
    case .retry(let delay, let reason, let detail):
      plan = later(item, after: delay, Failure(reason, detail), began: began, now: now)
    case .deadLetter(let reason, let detail):
      plan = dead(
        item, Failure(reason, detail), remedy: "check it, then requeue or discard it", history: item.historyAfterRun,
        now: now)
    case .wait(let time, let reason): plan = waiting(item, until: time, reason: reason, began: began, now: now)
    }
    // The handler runs again at once, and its next outcome has the timers and records.
    if case .again = plan.ending { return plan }
    let beside = try done(Outcome.Results(), outcome, cause, now: now)
    plan.records += beside.records
    plan.timers = beside.timers
    return plan
  }

  /// Plans the consequences of a fired timer. Returns nil if its outcome exceeds a size limit, or if it is neither `done`
  /// nor `deadLetter`.
  func plan(_ fired: NamedTimer, _ outcome: Outcome, lane: Int32, now: Timestamp) -> OutcomePlan? {
    switch outcome.decision {
    case .done(let results): return plan(FiredTimer(fired), results, outcome, now: now)
    case .deadLetter(let reason, let detail):
      // The dead letter takes a timer of the same name, because a requeue sets what the letter has.
      var (outcome, dead) = (outcome, fired)
      if let again = outcome.timers.last(where: { $0.name == dead.name }) {
        dead.timer.payload = again.payload
        if let at = again.at { dead.timer.at = at }
        outcome.timers.removeAll { $0.name == dead.name }
      }
      guard var plan = plan(FiredTimer(fired), Outcome.Results(), outcome, now: now), plan.ending == .done else {
        return nil
      }
      let letter = DeadLetter(
        reason: reason, detail: detail, remedy: "fix the cause, then requeue it; a requeue sets the timer again",
        at: now)
      (plan.ending, plan.detail) = (.dead(reason: reason), detail)
      plan.records.append(records.deadLetter(dead, letter, lane: lane))
      return plan
    case .retry, .wait: return nil
    }
  }

  private func plan(
    _ timer: FiredTimer, _ results: Outcome.Results, _ outcome: Outcome, now: Timestamp
  ) -> OutcomePlan? {
    let cause = OutcomeRecords.Cause(
      id: "timer/\(timer.name)/\(timer.at.millisecondsSince1970)", key: timer.key, traceParent: nil, revision: nil)
    do throws(Unwritable) {
      return try done(results, outcome, cause, now: now)
    } catch {
      switch error {
      case .oversize, .reserved: return nil
      case .undeclared(let topic): return OutcomePlan(ending: .undeclared(topic: topic))
      }
    }
  }

  /// The consequence of a timer's failure.
  enum TimerRetry: Sendable {
    /// The timer fires again; the ledger gets this entry.
    case later(LaneTimer)
    /// The timer becomes a dead letter.
    case dead(ProducerRecord, DeadLetter)
  }

  /// Plans the consequences of a fired timer whose handler failed.
  func failed(_ fired: NamedTimer, _ failure: TimerFailure, lane: Int32, now: Timestamp) -> TimerRetry {
    let attempts = (fired.timer.failures?.attempts ?? 0) + 1
    let run = RetrySchedule.FailedRun(attempt: attempts, began: now, requested: failure.delay)
    if case .delay(_, let due) = schedule.decide(run, now: now) {
      var timer = fired.timer
      timer.failures = TimerFailures(attempts: attempts, due: due)
      return .later(timer)
    }
    let letter = DeadLetter(
      reason: RetrySchedule.Ending.attemptsExhausted.rawValue,
      detail: "tried \(attempts) times; last: \(failure.reason): \(failure.detail)",
      remedy: "fix the cause, then requeue it; a requeue sets the timer again", at: now)
    return .dead(records.deadLetter(fired, letter, lane: lane), letter)
  }

  /// Delays a record in the same retry topic as an earlier record of its key, without running it.
  func behind(_ item: LaneItem, _ predecessor: Predecessor, now: Timestamp) -> OutcomePlan {
    var history = item.history
    let delayIndex = min(predecessor.delayIndex, schedule.delays.count - 1)
    history.behind = Hex.text(predecessor.id.bytes)
    history.due = now + schedule.delays[delayIndex]
    history.delayedAt = now
    return delayed(item, delayIndex, history, reason: OutcomePlan.behindItsKey, now: now)
  }

  /// Returns the record to write to another retry topic. Only the time of its arrival there changes.
  func moved(_ item: LaneItem, to delayIndex: Int, now: Timestamp) -> ProducerRecord {
    var history = item.history
    history.delayedAt = now
    return records.delayed(item.record, on: records.topics.retries[delayIndex], history: history)
  }

  /// Dead-letters a record that kills the process.
  func crashed(_ item: LaneItem, now: Timestamp) -> OutcomePlan {
    dead(
      item,
      Failure(
        PoisonDetector.reason,
        "the process died three times or more in a row, and the last two times it ran this record"),
      remedy: "find out why it crashes the process before you requeue it", now: now)
  }

  /// Returns the dead letter of a timer that kills the process.
  func crashed(_ timer: NamedTimer, lane: Int32, now: Timestamp) -> (record: ProducerRecord, letter: DeadLetter) {
    let letter = DeadLetter(
      reason: PoisonDetector.reason,
      detail: """
        the timer \(timer.name), due \(timer.timer.at.rfc3339): the process died three times or more in a row, and the last \
        two times it ran this timer
        """,
      remedy: "find out why it crashes the process before you requeue it; a requeue sets the timer again", at: now)
    return (records.deadLetter(timer, letter, lane: lane), letter)
  }

  private struct Failure {
    var reason: String
    var detail: String

    init(_ reason: String, _ detail: String) {
      self.reason = reason
      self.detail = detail
    }
  }

  /// The reason why an outcome cannot be written.
  private enum Unwritable: Error {
    /// A record, state or timer exceeds its size limit.
    case oversize(String)
    /// The name of an event or a counter that handlers may not use.
    case reserved(String)
    /// A record for a topic that the worker does not declare.
    case undeclared(topic: String)
  }

  private func done(
    _ results: Outcome.Results, _ outcome: Outcome, _ cause: OutcomeRecords.Cause, now: Timestamp
  ) throws(Unwritable) -> OutcomePlan {
    for record in outcome.records + results.states.compactMap(\.row) where !records.isDeclared(record) {
      throw .undeclared(topic: record.topic)
    }
    for event in results.events where event.name == ErasureEvent.name {
      throw .reserved("only an erasure publishes \(event.name)")
    }
    for name in results.counts.keys where LedgerIdentity.isReserved(name) {
      throw .reserved("only the worker itself counts \(name)")
    }
    let events = results.events.enumerated().map { records.event($1, ordinal: $0, of: cause, at: now) }
    let written = events + outcome.records.map { records.output($0) }
    let states = results.states.map { state in
      KeptState(name: state.name, value: state.value, row: state.row.map { records.output($0) })
    }
    for state in states where state.name.utf8.count + (state.value?.count ?? 0) > Outcome.State.maximumBytes {
      throw .oversize("a state has \(state.value?.count ?? 0) bytes; the limit is \(Outcome.State.maximumBytes)")
    }
    for record in written + states.compactMap(\.row) where record.isTooLarge {
      throw .oversize("a record for \(record.topic) has \(record.bytes) bytes; the limit is \(ProducerRecord.limit)")
    }
    for timer in outcome.timers where timer.name.utf8.count + timer.payload.count > Outcome.Timer.maximumBytes {
      throw .oversize("a timer has \(timer.payload.count) bytes; the limit is \(Outcome.Timer.maximumBytes)")
    }
    return OutcomePlan(
      ending: .done, records: written, events: results.events.map(\.name), timers: outcome.timers, states: states,
      counts: results.counts, digest: Self.digest(of: results.events, outcome.records))
  }

  /// Delays a record. Its history makes it larger, so a record close to the size limit becomes a dead letter instead.
  private func delayed(
    _ item: LaneItem, _ delayIndex: Int, _ history: DeliveryHistory, reason: String, detail: String = "",
    now: Timestamp
  ) -> OutcomePlan {
    let record = records.delayed(item.record, on: records.topics.retries[delayIndex], history: history)
    guard !record.isTooLarge else {
      return dead(
        item, Failure("too-large-to-delay", "\(record.bytes) bytes with its history are too many to delay: \(reason)"),
        remedy: "requeue it when the reason for the delay is gone", history: history, now: now)
    }
    return OutcomePlan(
      ending: .delayed(delayIndex: delayIndex, reason: reason), attempt: history.attempt, detail: detail,
      due: history.due, records: [record])
  }

  private func later(
    _ item: LaneItem, after delay: Duration?, _ failure: Failure, began: Timestamp, now: Timestamp
  ) -> OutcomePlan {
    var history = item.historyAfterRun
    history.behind = nil
    history.causes.append("\(now.rfc3339) \(failure.reason): \(failure.detail.prefix(300))")
    let run = RetrySchedule.FailedRun(
      attempt: history.attempt, began: began, requested: delay, deadline: item.deadline)
    switch schedule.decide(run, now: now) {
    case .delay(let delayIndex, let due):
      history.due = due
      history.delayedAt = now
      return delayed(item, delayIndex, history, reason: failure.reason, detail: failure.detail, now: now)
    case .runNow:
      return OutcomePlan(ending: .again(attempt: history.attempt))
    case .deadLetter(let ending):
      return dead(
        item, Failure(ending.rawValue, "tried \(history.attempt) times; last: \(failure.reason): \(failure.detail)"),
        remedy: "fix the cause, then requeue it", history: history, now: now)
    }
  }

  /// Delays a record that has not failed.
  private func waiting(
    _ item: LaneItem, until turn: Timestamp, reason: String, began: Timestamp, now: Timestamp
  ) -> OutcomePlan {
    switch schedule.wait(until: turn, began: began, deadline: item.deadline, now: now) {
    case .delay(let delayIndex, let due):
      var history = item.history
      history.behind = nil
      history.due = due
      history.delayedAt = now
      return delayed(item, delayIndex, history, reason: reason, detail: "waits until \(turn.rfc3339)", now: now)
    case .runNow:
      return OutcomePlan(ending: .again(attempt: item.attempt))
    case .deadLetter(let ending):
      return dead(
        item, Failure(ending.rawValue, "\(reason) until \(turn.rfc3339), which is after the record's deadline"),
        remedy: "decide whether it is still useful, then requeue or discard it", now: now)
    }
  }

  private func dead(
    _ item: LaneItem, _ failure: Failure, remedy: String, history: DeliveryHistory? = nil, now: Timestamp
  ) -> OutcomePlan {
    let letter = DeadLetter(reason: failure.reason, detail: failure.detail, remedy: remedy, at: now)
    return OutcomePlan(
      ending: .dead(reason: failure.reason), attempt: (history ?? item.history).attempt, detail: failure.detail,
      records: [records.deadLetter(item.record, letter, history: history ?? item.history)])
  }

  /// The digest covers the content only, because the ids of events are derived from the notification.
  private static func digest(of events: [EncodedEvent], _ records: [OutputRecord]) -> UInt32 {
    var digest = OutcomeDigest()
    for event in events {
      digest.add(event.name.utf8)
      digest.add(Array((event.key ?? "").utf8), isPresent: event.key != nil)
      digest.add(event.data)
    }
    for record in records {
      digest.add(record.topic.utf8)
      digest.add(record.key.utf8)
      digest.add(record.value ?? [], isPresent: record.value != nil)
    }
    return digest.value
  }
}
