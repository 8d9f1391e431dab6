// From what a handler decided to what is written. Pure: the same decision at the same time plans the same records.

internal import AppStore
internal import Kafka

/// What follows from one run of a handler.
struct OutcomePlan: Sendable {
  /// How the record ended.
  enum Ending: Sendable, Hashable {
    case done
    /// On a tier; `tier` is its place among the delays.
    case parked(tier: Int, reason: String)
    case dead(reason: String)
    /// Not at all: the handler runs again at once, this time as attempt `attempt`.
    case again(attempt: Int)
    /// Not at all: it writes to a topic, named without prefix, that its worker does not declare. That is the worker's
    /// fault and of no record, so the worker ends.
    case undeclared(topic: String)
  }

  /// The reason of a record that waits behind another of its key.
  static let behindItsKey = "behind-its-key"

  var ending: Ending
  /// Runs of the handler so far, as parking notes them.
  var attempt = 0
  /// When a parked record is to run.
  var due: Timestamp?
  var records: [ProducerRecord] = []
  /// Names of the events among the records, one for each.
  var events: [String] = []
  var timers: [Outcome.Timer] = []
  var states: [KeptState] = []
  var counts: [String: Int64] = [:]
  /// Whether the record is not the notification whose id it bears, as far as anybody can tell.
  var isForeign = false
  /// Tells outcomes apart: what is compared before `--reapply` emits again.
  var digest: UInt32 = 0

  /// The timers to set or withdraw: the last word about each.
  ///
  /// Run again on an operator's word, one whose time was over before the run began is taken to have fired, for the ledger
  /// forgets what has: set again it would tell its event once more. Where the notification is done otherwise than before
  /// all are set, see docs/adr/0013-what-reapply-compares.md.
  /// - Parameters:
  ///   - digest: That of the outcome which this one replaces; nil: none.
  ///   - began: When the handler began. No timer of its key fired since.
  func timers(replacing digest: UInt32?, began: Timestamp) -> [Outcome.Timer] {
    var names: Set<String> = []
    let last = Array(timers.reversed().filter { names.insert($0.name).inserted }.reversed())
    guard let digest, ending != .done || digest == self.digest else { return last }
    return last.filter { $0.at.map { $0 >= began } ?? true }
  }
}

/// What a handler keeps, and the record that tells others.
struct KeptState: Sendable {
  var name: String
  var value: [UInt8]?
  var row: ProducerRecord?
}

/// Plans the outcomes of one worker.
struct OutcomePlanner: Sendable {
  let records: OutcomeRecords
  let schedule: RetrySchedule

  /// What follows for a record whose handler began at `began`.
  func plan(_ item: LaneItem, _ result: HandlerResult, began: Timestamp, now: Timestamp) -> OutcomePlan {
    switch result {
    case .decided(let outcome):
      do throws(Unwritable) {
        return try decided(item, outcome, began: began, now: now)
      } catch {
        switch error {
        case .oversize(let description):
          // Written, it would abort its transaction and every one after it.
          return dead(
            item, Failure("outcome-too-large", description), remedy: "let the handler write less, then requeue it",
            history: item.provenanceAfterRun, now: now)
        case .undeclared(let topic): return OutcomePlan(ending: .undeclared(topic: topic))
        }
      }
    case .undecodable(let error):
      var plan = dead(
        item, Failure(error.reason.rawValue, error.description),
        remedy: "find out who wrote it; it cannot be acted on as it is", now: now)
      plan.isForeign = true
      return plan
    case .failed(.deadLetter(let code), _, let detail):
      return dead(
        item, Failure(code, detail), remedy: "mend what it names, then requeue it", history: item.provenanceAfterRun,
        now: now)
    case .failed(.retry(after: let delay), let reason, let detail):
      return later(item, after: delay, Failure(reason, detail), began: began, now: now)
    case .failed(.retryAt(let time), let reason, let detail):
      return later(item, after: max(.zero, time - now), Failure(reason, detail), began: began, now: now)
    case .failed(.wait(let turn), let reason, _):
      return waiting(item, until: turn, reason: reason, began: began, now: now)
    case .failed(.retryBySchedule, let reason, let detail):
      return later(item, after: nil, Failure(reason, detail), began: began, now: now)
    }
  }

  private func decided(
    _ item: LaneItem, _ outcome: Outcome, began: Timestamp, now: Timestamp
  ) throws(Unwritable) -> OutcomePlan {
    if outcome.isIgnored { return OutcomePlan(ending: .done, digest: OutcomeDigest().value) }
    let cause = OutcomeRecords.Cause(
      id: item.id, key: item.envelope.subject ?? String(decoding: item.key, as: UTF8.self),
      traceParent: item.envelope.traceParent,
      revision: item.isReapplied ? item.replay?.id : nil)
    var plan: OutcomePlan
    switch outcome.decision {
    case .done: return try done(outcome, cause, now: now)
    case .retry(let delay, let reason):
      plan = later(item, after: delay, Failure(reason, reason), began: began, now: now)
    case .deadLetter(let reason, let detail):
      plan = dead(
        item, Failure(reason, detail), remedy: "decide, then requeue or discard it", history: item.provenanceAfterRun,
        now: now)
    }
    // Timers and records go with any decision, events with the last one only.
    if case .again = plan.ending { return plan }
    var rest = outcome
    rest.events = []
    let beside = try done(rest, cause, now: now)
    plan.records += beside.records
    plan.timers = beside.timers
    return plan
  }

  /// What follows from a timer that fired; nil where it is more than Kafka takes.
  func plan(_ timer: FiredTimer, _ outcome: Outcome, now: Timestamp) -> OutcomePlan? {
    let cause = OutcomeRecords.Cause(
      id: "timer/\(timer.name)/\(timer.at.millisecondsSince1970)", key: timer.key, traceParent: nil, revision: nil)
    do throws(Unwritable) {
      return try done(outcome, cause, now: now)
    } catch {
      switch error {
      case .oversize: return nil
      case .undeclared(let topic): return OutcomePlan(ending: .undeclared(topic: topic))
      }
    }
  }

  /// A record behind one of its key that waits: to the same tier, without having run.
  func behind(_ item: LaneItem, _ predecessor: Predecessor, now: Timestamp) -> OutcomePlan {
    var history = item.provenance
    let tier = min(predecessor.tier, schedule.delays.count - 1)
    history.behind = Hex.text(predecessor.id.bytes)
    history.due = now + schedule.delays[tier]
    history.parkedAt = now
    return parked(item, tier, history, reason: OutcomePlan.behindItsKey, now: now)
  }

  /// A record that goes on to another tier, unchanged but for when it came there.
  func moved(_ item: LaneItem, to tier: Int, now: Timestamp) -> ProducerRecord {
    var history = item.provenance
    history.parkedAt = now
    return records.parked(item.record, on: records.topics.retries[tier], history: history)
  }

  /// A record that was in flight when its process died too often.
  func crashed(_ item: LaneItem, now: Timestamp) -> OutcomePlan {
    dead(
      item, Failure(PoisonWatch.reason, "in flight at three unclean starts"),
      remedy: "find what in it ends the process before you requeue it", now: now)
  }

  /// The letter of a timer that was.
  func crashed(_ dead: DeadTimer, lane: Int32, now: Timestamp) -> ProducerRecord {
    let letter = DeadLetter(
      reason: PoisonWatch.reason,
      detail: "the timer \(dead.name), due \(dead.timer.at.rfc3339), was in flight at three unclean starts",
      remedy: "find what in it ends the process before you requeue it; that sets it again", at: now)
    return records.deadLetter(dead, letter, lane: lane)
  }

  private struct Failure {
    var reason: String
    var detail: String

    init(_ reason: String, _ detail: String) {
      self.reason = reason
      self.detail = detail
    }
  }

  /// What cannot be written as it is.
  private enum Unwritable: Error {
    /// More than Kafka takes in one record.
    case oversize(String)
    /// A record for a topic that the worker does not declare.
    case undeclared(topic: String)
  }

  private func done(
    _ outcome: Outcome, _ cause: OutcomeRecords.Cause, now: Timestamp
  ) throws(Unwritable) -> OutcomePlan {
    for record in outcome.records + outcome.states.compactMap(\.row) where !records.isDeclared(record) {
      throw .undeclared(topic: record.topic)
    }
    let events = outcome.events.enumerated().map { records.event($1, ordinal: $0, of: cause, at: now) }
    let written = events + outcome.records.map { records.output($0) }
    let states = outcome.states.map { state in
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
      ending: .done, records: written, events: outcome.events.map(\.name), timers: outcome.timers, states: states,
      counts: outcome.counts, digest: Self.digest(of: outcome))
  }

  /// Puts a record aside. Its history makes it longer, and what came with next to the most that Kafka takes has no room
  /// for one.
  private func parked(
    _ item: LaneItem, _ tier: Int, _ history: Provenance, reason: String, now: Timestamp
  ) -> OutcomePlan {
    let record = records.parked(item.record, on: records.topics.retries[tier], history: history)
    guard !record.isTooLarge else {
      return dead(
        item, Failure("too-large-to-park", "\(record.bytes) bytes with its history, and it had to wait: \(reason)"),
        remedy: "requeue it once what it waited for is there", history: history, now: now)
    }
    return OutcomePlan(
      ending: .parked(tier: tier, reason: reason), attempt: history.attempt, due: history.due, records: [record])
  }

  private func later(
    _ item: LaneItem, after delay: Duration?, _ failure: Failure, began: Timestamp, now: Timestamp
  ) -> OutcomePlan {
    var history = item.provenanceAfterRun
    history.behind = nil
    history.causes.append("\(now.rfc3339) \(failure.reason): \(failure.detail.prefix(300))")
    let run = RetrySchedule.FailedRun(
      attempt: history.attempt, began: began, requested: delay, deadline: item.deadline)
    switch schedule.decide(run, now: now) {
    case .park(let tier, let due):
      history.due = due
      history.parkedAt = now
      return parked(item, tier, history, reason: failure.reason, now: now)
    case .runNow:
      return OutcomePlan(ending: .again(attempt: history.attempt))
    case .deadLetter(let ending):
      return dead(
        item, Failure(ending.rawValue, "tried \(history.attempt) times; last: \(failure.reason): \(failure.detail)"),
        remedy: "mend what it names, then requeue it", history: history, now: now)
    }
  }

  /// Parked without having failed.
  private func waiting(
    _ item: LaneItem, until turn: Timestamp, reason: String, began: Timestamp, now: Timestamp
  ) -> OutcomePlan {
    switch schedule.wait(until: turn, began: began, deadline: item.deadline, now: now) {
    case .park(let tier, let due):
      var history = item.provenance
      history.behind = nil
      history.due = due
      history.parkedAt = now
      return parked(item, tier, history, reason: reason, now: now)
    case .runNow:
      return OutcomePlan(ending: .again(attempt: item.attempt))
    case .deadLetter(let ending):
      return dead(
        item, Failure(ending.rawValue, "\(reason) until \(turn.rfc3339), which is after its deadline"),
        remedy: "decide whether it is of use now, then requeue it", now: now)
    }
  }

  private func dead(
    _ item: LaneItem, _ failure: Failure, remedy: String, history: Provenance? = nil, now: Timestamp
  ) -> OutcomePlan {
    let letter = DeadLetter(reason: failure.reason, detail: failure.detail, remedy: remedy, at: now)
    return OutcomePlan(
      ending: .dead(reason: failure.reason),
      records: [records.deadLetter(item.record, letter, history: history ?? item.provenance)])
  }

  /// The ids of events follow from the notification, so their content is all that can differ.
  private static func digest(of outcome: Outcome) -> UInt32 {
    var digest = OutcomeDigest()
    for event in outcome.events {
      digest.add(event.name.utf8)
      digest.add(Array((event.key ?? "").utf8), isPresent: event.key != nil)
      digest.add(event.data)
    }
    for record in outcome.records {
      digest.add(record.topic.utf8)
      digest.add(record.key.utf8)
      digest.add(record.value ?? [], isPresent: record.value != nil)
    }
    return digest.value
  }
}
