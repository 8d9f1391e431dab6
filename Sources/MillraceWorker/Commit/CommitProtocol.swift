// The steps that make one batch durable, and the consequence of a failure at each step.

/// One commit, step by step.
struct CommitProtocol: Sendable, Hashable {
  /// `commit` in the configuration.
  enum Mode: Sendable, Hashable {
    /// All records and offsets in one transaction.
    case transactional
    /// Write the records and flush, then write the ledger, then commit the offsets. After a crash between these steps,
    /// the ledger removes the repetitions. The ledger comes second, because an entry for an event or a delayed record
    /// that is not in Kafka would lose it.
    case atLeastOnce
  }

  /// The next call to make.
  enum Step: Sendable, Hashable {
    case begin
    /// Produce every record and wait until all are acknowledged. In a transaction these include the ledger's records.
    case write
    /// Produce the ledger's records and wait until all are acknowledged.
    case writeLedger
    /// Send the offsets of all lanes of the batch into the transaction.
    case sendOffsets
    case commitTransaction
    case abort
    /// Commit the offsets of all lanes of the batch.
    case commitOffsets
  }

  /// The kind of failure of a step.
  enum Trouble: Sendable, Hashable {
    /// The call can be repeated.
    case retriable
    /// The transaction must be aborted, or a record was not acknowledged.
    case abortable
    /// The client cannot be used any longer, for instance because it was fenced.
    case fatal
  }

  /// The action that follows a step.
  enum Next: Sendable, Hashable {
    /// Perform this step. `isAgain` means that the same step just failed: wait a moment first.
    case step(Step, isAgain: Bool)
    /// Everything is in Kafka.
    case committed
    /// The records are in Kafka, the offsets are not. The outcomes count as settled, and the lane commits the offsets
    /// later. If the lane has moved, its next owner finds the outcomes in the ledger.
    case written
    /// The batch is not committed; in a transaction, none of its records are visible. Write the same outcomes again.
    case aborted
    /// A commit failed, and only Kafka knows whether it was applied. A broker that has applied it refuses the abort; an
    /// abort that only asks for a new epoch succeeds in either case. The outcomes are not written again, and the lanes
    /// restart from the state in Kafka.
    case unclear
    /// The producer cannot continue.
    case failed
  }

  /// The current step.
  private(set) var step: Step

  init(_ mode: Mode) {
    step = mode == .transactional ? .begin : .write
    isTransactional = mode == .transactional
    #if PLANTED_FAULTS
      if PlantedFault.ledgerFirst.isActive, mode == .atLeastOnce { step = .writeLedger }
    #endif
  }

  private let isTransactional: Bool
  private var hasTriedToCommit = false

  /// The current step succeeded.
  mutating func succeeded() -> Next {
    #if PLANTED_FAULTS
      switch (step, isTransactional) {
      case (.write, true) where PlantedFault.noOffsetsInTransaction.isActive: return go(.commitTransaction)
      case (.write, false) where PlantedFault.ledgerFirst.isActive: return go(.commitOffsets)
      case (.writeLedger, false) where PlantedFault.ledgerFirst.isActive: return go(.write)
      default: break
      }
    #endif
    switch step {
    case .begin: return go(.write)
    case .write: return go(isTransactional ? .sendOffsets : .writeLedger)
    case .writeLedger: return go(.commitOffsets)
    case .sendOffsets: return go(.commitTransaction)
    case .commitTransaction, .commitOffsets: return .committed
    case .abort: return ended
    }
  }

  /// Whether the batch may have been committed although a step failed.
  var isUnclear: Bool {
    #if PLANTED_FAULTS
      if PlantedFault.unclearIsAborted.isActive { return false }
    #endif
    return hasTriedToCommit || step == .commitTransaction
  }

  /// The result of the commit after an abort.
  private var ended: Next {
    #if PLANTED_FAULTS
      if PlantedFault.unclearIsAborted.isActive { return .aborted }
      if PlantedFault.abortedIsCommitted.isActive { return .committed }
    #endif
    return hasTriedToCommit ? .unclear : .aborted
  }

  /// The current step failed.
  mutating func failed(_ trouble: Trouble) -> Next {
    switch (step, trouble) {
    case (_, .fatal): return .failed
    // A record that was not acknowledged may be in Kafka. Only an abort makes sure that it is not visible. Without
    // transactions the batch is written again, and readers see one `ce_id` twice.
    case (.write, _): return isTransactional ? go(.abort) : .aborted
    // In a compacted topic, writing the same records twice changes nothing.
    case (_, .retriable), (.writeLedger, .abortable): return .step(step, isAgain: true)
    // The broker has no transaction left to abort.
    case (.abort, .abortable): return ended
    case (.commitOffsets, .abortable): return .written
    case (.begin, .abortable), (.sendOffsets, .abortable): return go(.abort)
    case (.commitTransaction, .abortable):
      hasTriedToCommit = true
      return go(.abort)
    }
  }

  private mutating func go(_ next: Step) -> Next {
    step = next
    return .step(next, isAgain: false)
  }
}
