// The ledger entries that are written with the outcome of a handler run.

internal import AppStore
internal import KafkaClient

extension Ledger {
  /// Returns the entries to write with the outcome of a record. How the record ended comes last: without transactions a
  /// crash between two entries repeats the outcome, and a record that is done has its timers and states.
  /// - Parameters:
  ///   - replaced: The digest of the outcome that a reapply replaces, or nil if the record is not reapplied.
  ///   - began: When the handler began.
  ///   - isStrict: Whether the records of a key wait for delayed ones before them.
  func entries(
    _ plan: OutcomePlan, of item: LaneItem, replacing replaced: UInt32?, began: Timestamp, isStrict: Bool,
    at now: Timestamp
  ) -> [LedgerEntry] {
    let timers = plan.timers.isEmpty ? [] : plan.timers(replacing: replaced, began: began)
    var entries = timers.isEmpty ? [] : Self.entries(setting: timers, key: item.key)
    if !plan.states.isEmpty { entries += self.entries(keeping: plan.states, key: item.key) }
    // A reapplied notification was counted when it was first done.
    if replaced == nil, !plan.counts.isEmpty { entries += self.entries(counting: plan.counts) }
    switch plan.ending {
    case .done:
      if !plan.isUnchanged(replacing: replaced) {
        entries.add(
          self.entries(resolving: item, as: Handled(.done(digest: plan.digest), at: now), isStrict: isStrict))
      }
    case .delayed(let delayIndex, _):
      // A notification that is done stays done while its reapply is delayed.
      if replaced == nil {
        entries += self.entries(delaying: item, attempt: plan.attempt, in: delayIndex, isStrict: isStrict, at: now)
      }
    case .dead:
      // A record that only claims an id must not block the genuine notification.
      let isKnown = self[item.ledgerID] != nil
      if replaced == nil, isKnown || !plan.isForeign {
        entries += self.entries(resolving: item, as: Handled(.dead, at: now), isStrict: isStrict)
      }
    case .again, .undeclared: break
    }
    if let reapply = item.reapply, plan.isFinal {
      entries.append(.handled(LedgerKey(id: reapply), Handled(.done(digest: plan.digest), at: now)))
    }
    #if PLANTED_FAULTS
      if PlantedFault.reappliedAgain.isActive {
        entries.removeAll { $0.name == item.reapply.map { .handled(LedgerKey(id: $0)) } }
      }
      if PlantedFault.endFirst.isActive(changing: entries.count > 1) { return entries.reversed() }
    #endif
    return entries
  }

  /// Returns the entries to write with the outcome of a timer. The timer is removed, unless the outcome or a
  /// notification has set it again. Its removal or new time comes last, like the end of a record.
  func entries(_ plan: OutcomePlan, of fired: NamedTimer) -> [LedgerEntry] {
    #if PLANTED_FAULTS
      if PlantedFault.firedTimerStays.isActive { return self.entries(keeping: plan.states, key: fired.timer.key) }
    #endif
    let again = plan.timers.filter { $0.name == fired.name }
    var entries = Self.entries(setting: plan.timers.filter { $0.name != fired.name }, key: fired.timer.key)
    entries += self.entries(keeping: plan.states, key: fired.timer.key)
    entries += self.entries(counting: plan.counts)
    if timer(fired.name) == fired.timer, again.isEmpty { entries.append(.timer(fired.name, nil)) }
    return entries + Self.entries(setting: again, key: fired.timer.key)
  }

  /// Returns the table rows of the states that change.
  func rows(_ plan: OutcomePlan) -> [ProducerRecord] {
    plan.states.filter(isChange).compactMap(\.row)
  }

  /// Returns the entries of a record that is done or dead.
  func entries(resolving item: LaneItem, as handled: Handled, isStrict: Bool) -> [LedgerEntry] {
    guard isStrict else { return [.handled(item.ledgerID, handled)] }
    return entries(resolving: item.ledgerID, key: LedgerKey(hashing: item.key), as: handled)
  }

  /// Returns the entries of a delayed record. A requeued dead letter is outside the strict order of its key.
  func entries(
    delaying item: LaneItem, attempt: Int, in delayIndex: Int, isStrict: Bool, at now: Timestamp
  ) -> [LedgerEntry] {
    let delayIndex = item.isRequeued ? nil : delayIndex
    let handled = Handled(.delayed(attempt: attempt, delayIndex: delayIndex), at: now)
    guard isStrict else { return [.handled(item.ledgerID, handled)] }
    return entries(delaying: item.ledgerID, key: LedgerKey(hashing: item.key), as: handled)
  }

  /// Returns the entries that set and withdraw timers of a record key.
  static func entries(setting timers: [Outcome.Timer], key: [UInt8]) -> [LedgerEntry] {
    timers.map { timer in
      .timer(timer.name, timer.at.map { LaneTimer(at: $0, key: key, payload: timer.payload) })
    }
  }

  private func entries(keeping states: [KeptState], key: [UInt8]) -> [LedgerEntry] {
    states.filter(isChange).map { state in
      .state(state.name, state.value.map { StoredState($0, key: key) })
    }
  }

  /// Returns the entries that add to counters.
  func entries(counting counts: [String: Int64]) -> [LedgerEntry] {
    counts.sorted { $0.key < $1.key }.map { adding($0.value, to: $0.key) }
  }

  /// Returns the entries that count a record that has ended for the run that sent it.
  func entries(counting ending: RunOutcome.Ending, of item: LaneItem, events: Int = 0) -> [LedgerEntry] {
    guard let run = item.replay?.id, !run.isEmpty else { return [] }
    return entries(counting: RunOutcome.counts(of: run, ending, events: events))
  }

  private func isChange(_ state: KeptState) -> Bool { self.state(state.name) != state.value }
}
