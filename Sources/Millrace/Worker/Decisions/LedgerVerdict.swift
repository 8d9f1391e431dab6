// What a ledger says about a record that is about to be handed to a handler.

/// How a record came to a lane.
enum Arrival: Sendable, Hashable {
  /// From a family's topic.
  case live
  /// From a retry tier, after that many runs; `reapplying` where it was sent again for handlers to run again.
  case retry(attempt: Int, reapplying: Bool)
  /// Sent again plainly: handled stays handled.
  case replay
  /// Sent again for handlers to run again.
  case reapply
  /// A dead letter that is to be tried again; `reapplying` where it died of a run for which handlers were to run again.
  case requeue(reapplying: Bool)
}

/// Whether a handler runs.
enum LedgerVerdict: Sendable, Hashable {
  /// It runs, after that many runs.
  case run(attempt: Int)
  /// It runs although the notification is done; events are written only where the outcome's digest is not this one, and
  /// the ledger changes only by a new digest.
  case reapply(attempt: Int, digest: UInt32)
  /// It does not run; the record is finished without anything else.
  case skip(Skip)

  /// Why a record is not handled. The raw value is a label of metrics.
  enum Skip: String, Sendable, Hashable, CaseIterable {
    /// It is done.
    case duplicate
    /// It waits on a tier, and that record will be handled; or it is not yet certain that it will not be.
    case parked
    /// It is a dead letter, and only a requeue brings it back.
    case dead
    /// An older copy of a parked record; at-least-once leaves such copies after a crash.
    case superseded
  }
}

extension Ledger {
  /// Decides whether a record is handled. Asked when ``KeyLanes`` hands it out, never earlier: of two copies the second
  /// is handed out only when the outcome of the first is staged.
  /// - Parameter hasPassed: Whether what was parked so would have come back by now (``TierPassage``).
  func verdict(
    for id: LedgerKey, arriving arrival: Arrival, hasPassed: (Handled) -> Bool = { _ in false }
  ) -> LedgerVerdict {
    let known = self[id]
    switch (arrival, known?.state) {
    // What the ledger does not know is handled, however it came: better twice than never.
    case (.retry(let attempt, _), nil): return .run(attempt: attempt)
    case (_, nil): return .run(attempt: 0)

    // The record that parking wrote has the attempt that parking noted. A lower one is an older copy; a higher one says
    // that the note was lost with a crash, and the record is the truth.
    case (.retry(let attempt, _), .parked(let noted, _)):
      return attempt >= noted ? .run(attempt: attempt) : .skip(.superseded)
    // Its copy is gone, and the run it waited for with it. Should the copy come all the same, it is an older one.
    case (_, .parked(let noted, _)):
      return known.map(hasPassed) == true ? .run(attempt: noted + 1) : .skip(.parked)

    // What was reapplied and died is done still: its letter is reapplied again.
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
