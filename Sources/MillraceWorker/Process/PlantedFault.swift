// Defects of the worker that the simulation plants, to prove that it finds them. They exist only in the build of
// `scripts/simulate`: no product has these lines.

#if PLANTED_FAULTS
  /// A defect. At most one is active in a process.
  package enum PlantedFault: String, Sendable, CaseIterable {
    /// A request without an answer does not end the client of the transactional producer (ADR 56).
    case lateRequests = "late-requests"
    /// A process that is fenced takes its name for taken (ADR 54).
    case fencedMeansTaken = "fenced-means-taken"
    /// Topics are not compared with the records that were read (ADR 55).
    case recreatedTopics = "recreated-topics"
    /// An entry is put behind one that is longer than a block of the ledger's table.
    case longStates = "long-states"
    /// The group metadata of a commit is read after the lanes have sealed their writes.
    case metadataAfterSealing = "metadata-after-sealing"
    /// Offsets are committed past records that are not finished.
    case unfinishedOffsets = "unfinished-offsets"
    /// Offsets of a commit that ended `.written` count as committed.
    case writtenIsCommitted = "written-is-committed"
    /// A commit whose result is unclear is written again.
    case unclearIsAborted = "unclear-is-aborted"
    /// An aborted batch counts as committed.
    case abortedIsCommitted = "aborted-is-committed"
    /// A transaction has no offsets.
    case noOffsetsInTransaction = "no-offsets-in-transaction"
    /// Without transactions, the ledger is written before the records.
    case ledgerFirst = "ledger-first"
    /// Without transactions, the end of a record is written to the ledger before its timers and states.
    case endFirst = "end-first"
    /// A lane that starts does not restore its timers.
    case timersLostAtMove = "timers-lost-at-move"
    /// A lane that starts does not restore its states.
    case statesLostAtMove = "states-lost-at-move"
    /// A lane that starts does not restore its effects.
    case effectsLostAtMove = "effects-lost-at-move"
    /// A lane that starts does not restore which notification is the last of its key that waits.
    case tailsLostAtMove = "tails-lost-at-move"
    /// A lane that starts does not restore the handled notifications.
    case doneLostAtMove = "done-lost-at-move"
    /// An effect begins before its intent is committed.
    case effectBeforeIntent = "effect-before-intent"
    /// An effect is repeated with the bytes of the new attempt.
    case newEffectBody = "new-effect-body"
    /// Two records of a key may run at the same time.
    case concurrentKeys = "concurrent-keys"
    /// A handler does not see states that wait for their commit.
    case committedStatesOnly = "committed-states-only"
    /// Records do not wait for delayed ones of their key.
    case noStrictOrder = "no-strict-order"
    /// A delayed record is not written to its retry topic.
    case delayedRecordLost = "delayed-record-lost"
    /// A timer that has fired stays in the ledger.
    case firedTimerStays = "fired-timer-stays"
    /// Completions of an earlier ownership of a lane count.
    case epochUnchecked = "epoch-unchecked"
    /// A process that was fenced or has lost its session joins without asking who has its name.
    case noNameInquiry = "no-name-inquiry"
    /// Copies of a notification are handled again.
    case copiesAgain = "copies-again"
    /// A write that makes a batch due does not wake the committer.
    case lostWakeUp = "lost-wake-up"
    /// A lane restores its ledger to the high watermark, without a record of its own at the end.
    case restoreToWatermark = "restore-to-watermark"
    /// A client is replaced although another process has the name.
    case noNameCheck = "no-name-check"
    /// In at-least-once mode, a commit continues after its lane was lost.
    case detachedWrites = "detached-writes"
    /// A worker that rejoins does not take over its transactional id before its lanes start.
    case lanesBeforeTakeOver = "lanes-before-take-over"
    /// An extension whose result is unknown is requested again after an hour without a question to Apple.
    case blindExtension = "blind-extension"
    /// An answer to a consumption request that comes too late is not announced with the answer.
    case lateAnswerUnannounced = "late-answer-unannounced"
    /// A timer whose handler failed is forgotten.
    case failedTimerLost = "failed-timer-lost"
    /// An erasure leaves the customer's states.
    case erasedStatesStay = "erased-states-stay"
    /// An erasure leaves commands to retry the customer's dead letters.
    case retriedAfterErasure = "retried-after-erasure"
    /// A command to retry a dead letter counts as carried out without a copy.
    case requeuedRecordLost = "requeued-record-lost"
    /// The ledger does not remember the records that a reapply has run.
    case reappliedAgain = "reapplied-again"

    /// The active defect. Set it before the first task starts.
    nonisolated(unsafe) package static var active: PlantedFault?
    /// The defects that had something to change so far. A run that does not reach a defect is the same with it.
    nonisolated(unsafe) package static var reached: Set<PlantedFault> = []

    /// Whether the defect is active. Ask only where it may change something.
    package var isActive: Bool { isActive(changing: true) }

    /// Whether the defect is active.
    /// - Parameter isChange: Whether it would change something here.
    package func isActive(changing isChange: Bool) -> Bool {
      if isChange { Self.reached.insert(self) }
      return isChange && Self.active == self
    }
  }
#endif
