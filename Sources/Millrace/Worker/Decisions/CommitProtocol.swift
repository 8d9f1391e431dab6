// The order in which one batch becomes durable, and what a failure at each step means.

/// One commit, step by step.
struct CommitProtocol: Sendable, Hashable {
  /// `commit` in the configuration.
  enum Mode: Sendable, Hashable {
    /// Everything in one transaction.
    case transactional
    /// Write, flush, then the ledger, then offsets: what a crash between them repeats, the ledger removes. It comes
    /// after what it tells of: a ledger that knows of an event or a parked record that is not in Kafka loses it.
    case atLeastOnce
  }

  /// What to do.
  enum Step: Sendable, Hashable {
    /// Begin a transaction.
    case begin
    /// Produce every record (in a transaction the ledger's too) and wait until all are acknowledged.
    case write
    /// Produce the ledger's records and wait until all are acknowledged.
    case writeLedger
    /// Send the offsets of all lanes of the batch into the transaction.
    case sendOffsets
    /// Commit the transaction.
    case commitTransaction
    /// Abort the transaction.
    case abort
    /// Commit the offsets of all lanes of the batch.
    case commitOffsets
  }

  /// How a step went wrong.
  enum Trouble: Sendable, Hashable {
    /// The same call may be made again.
    case retriable
    /// The transaction is of no use any more, or a record was not acknowledged.
    case abortable
    /// The client is of no use any more, for instance fenced.
    case fatal
  }

  /// What follows.
  enum Next: Sendable, Hashable {
    /// This step; `isAgain` where it is the one that just failed: wait a moment.
    case step(Step, isAgain: Bool)
    /// Everything is in Kafka.
    case committed
    /// The records are in Kafka, the offsets are not. The outcomes are settled all the same: the next commit carries the
    /// offsets, and where the lane is gone the successor's ledger knows them.
    case written
    /// Nothing is visible: the same outcomes again.
    case aborted
    /// The process has to start anew.
    case failed
  }

  /// The step that is being done.
  private(set) var step: Step

  init(_ mode: Mode) {
    step = mode == .transactional ? .begin : .write
    isTransactional = mode == .transactional
  }

  private let isTransactional: Bool

  /// The step succeeded.
  mutating func succeeded() -> Next {
    switch step {
    case .begin: return go(.write)
    case .write: return go(isTransactional ? .sendOffsets : .writeLedger)
    case .writeLedger: return go(.commitOffsets)
    case .sendOffsets: return go(.commitTransaction)
    case .commitTransaction, .commitOffsets: return .committed
    case .abort: return .aborted
    }
  }

  /// The step failed.
  mutating func failed(_ trouble: Trouble) -> Next {
    switch (step, trouble) {
    case (_, .fatal): return .failed
    // A record that was not acknowledged may be in Kafka or not: only aborting makes it certain. Without transactions
    // the batch is written again, and readers see one `ce_id` twice.
    case (.write, _): return isTransactional ? go(.abort) : .aborted
    // Saying the same thing twice changes nothing in a compacted topic.
    case (_, .retriable), (.writeLedger, .abortable): return .step(step, isAgain: true)
    // A broker that says so to an abort has nothing to abort any more.
    case (.abort, .abortable): return .aborted
    case (.commitOffsets, .abortable): return .written
    case (.begin, .abortable), (.sendOffsets, .abortable), (.commitTransaction, .abortable): return go(.abort)
    }
  }

  private mutating func go(_ next: Step) -> Next {
    step = next
    return .step(next, isAgain: false)
  }
}
