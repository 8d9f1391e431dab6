// Decides from the ledger whether a handler runs for a record.

/// The way by which a record arrived in a lane.
enum Arrival: Sendable, Hashable {
  /// From a family's topic.
  case live
  /// From a retry topic, after this number of runs. `reapplying` is true for a record of a `--reapply` replay.
  case retry(attempt: Int, reapplying: Bool)
  /// From a plain replay: handled notifications are skipped.
  case replay
  /// From a `--reapply` replay: handlers run again for handled notifications.
  case reapply
  /// A requeued dead letter. `reapplying` is true if it became a dead letter during a `--reapply` replay.
  case requeue(reapplying: Bool)
}

/// Whether a handler runs.
enum LedgerVerdict: Sendable, Hashable {
  /// The handler runs, after this number of earlier runs.
  case run(attempt: Int)
  /// The handler runs although the notification is done. Events are written and the ledger changes only if the
  /// outcome's digest differs from this one.
  case reapply(attempt: Int, digest: UInt32)
  /// The handler does not run, and the record is finished without an outcome.
  case skip(Skip)

  /// The reason why a record is skipped. The raw value is a metric label.
  enum Skip: String, Sendable, Hashable, CaseIterable {
    /// The notification is done.
    case duplicate
    /// A copy of the notification waits on a retry topic, or it is not yet certain that the copy is gone.
    case delayed
    /// The notification is a dead letter, and only a requeue retries it.
    case dead
    /// An older copy of a delayed record. At-least-once mode leaves such copies after a crash.
    case superseded
    /// The customer was erased.
    case erased
  }
}

extension Ledger {
  /// Decides whether a record is handled. The worker asks when ``KeyedScheduler`` hands the record out, never earlier: then
  /// the outcome of an earlier copy is staged.
  /// - Parameters:
  ///   - reapply: The name of a record whose handler runs although its notification is done. The ledger remembers that it
  ///     has run, because another run could have another outcome.
  ///   - hasPassed: Whether a delayed record with this state would be back by now (``RetryDelayPassage``).
  func verdict(
    for id: LedgerKey, arriving arrival: Arrival, reapply: String? = nil, hasPassed: (Handled) -> Bool = { _ in false }
  ) -> LedgerVerdict {
    if let reapply, self[LedgerKey(id: reapply)] != nil { return .skip(.duplicate) }
    #if PLANTED_FAULTS
      if PlantedFault.copiesAgain.isActive { if case .done? = self[id]?.state { return .run(attempt: 0) } }
    #endif
    let known = self[id]
    switch (arrival, known?.state) {
    // A notification that the ledger does not know is handled, however it arrived: at least once is better than never.
    case (.retry(let attempt, _), nil): return .run(attempt: attempt)
    case (_, nil): return .run(attempt: 0)

    // The delayed record has the attempt that the ledger has. A lower attempt means an older copy. A higher one means
    // that a crash lost the ledger's entry, and the record is right.
    case (.retry(let attempt, _), .delayed(let noted, _)):
      return attempt >= noted ? .run(attempt: attempt) : .skip(.superseded)
    // The copy is gone, and with it the run that it waited for. If the copy arrives after all, it counts as an older
    // one.
    case (_, .delayed(let noted, _)):
      return known.map(hasPassed) == true ? .run(attempt: noted + 1) : .skip(.delayed)

    // A notification that died during a reapply is still done, so its dead letter is reapplied again.
    case (.reapply, .done(let digest)), (.requeue(reapplying: true), .done(let digest)):
      return .reapply(attempt: 0, digest: digest)
    case (.retry(let attempt, reapplying: true), .done(let digest)):
      return .reapply(attempt: attempt, digest: digest)
    case (_, .done): return .skip(.duplicate)

    case (.requeue, .dead): return .run(attempt: 0)
    case (_, .dead): return .skip(.dead)
    }
  }
}
