// The writes that a lane submits to the committer. The parts of a write become visible together.

internal import KafkaClient
internal import Synchronization

/// One decision of a lane that has to be committed.
struct LaneWrite: Sendable {
  /// The lane and its ownership epoch. A write of an epoch that is over is dropped.
  var lane: LaneEpoch
  /// The source record that the write finishes, if any.
  var finishes: SourcePosition?
  /// The timer that the write finishes, if any, by ``PoisonDetector/mark(of:)``.
  var fires: UInt64?
  /// Events, delayed records, dead letters and table rows.
  var records: [ProducerRecord] = []
  /// The ledger entries to write.
  var entries: [LedgerEntry] = []
  /// Whether a task waits for the write. Then the commit starts at once.
  var isUrgent = false
  /// Settled once, when the write is committed or dropped.
  var receipt: WriteReceipt?

  /// The size of the values to write, without the ledger's.
  var bytes: Int { records.reduce(0) { $0 + ($1.value?.count ?? 0) } }
}

/// The writes of one lane in a commit, with what makes the lane's progress durable.
struct LaneCommit: Sendable {
  var writes: [LaneWrite]
  /// One offset for each source of the lane, even if none has moved, because the group fences offset commits only. Empty
  /// after the commit if the group refused them.
  var offsets: [CommittedOffset]
  /// The entries of the writes as they are stored, a page last. The lane applies them to its ledger after the commit.
  var entries: [LedgerEntry]
  /// The records of these entries.
  var ledger: [ProducerRecord]
}

/// The result of a write.
enum CommitResult: Sendable, Hashable {
  case committed
  /// The records are in Kafka, but the group refused the offsets: the lane may have another owner. Only without
  /// transactions, or if there are no records.
  case written
  /// The lane was revoked before the commit. Its next owner starts from the committed offsets.
  case dropped
}

/// Reports the result of a write to one waiting task.
final class WriteReceipt: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<CommitResult, Never>)
    case settled(CommitResult)
  }

  private let state = Mutex(State.open)

  func settle(_ fate: CommitResult) {
    let waiter: CheckedContinuation<CommitResult, Never>? = state.withLock { state in
      defer { if case .settled = state {} else { state = .settled(fate) } }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiter?.resume(returning: fate)
  }

  /// The result, or nil if it is not known yet.
  var settled: CommitResult? {
    state.withLock { state in
      if case .settled(let fate) = state { fate } else { nil }
    }
  }

  /// Waits for the result. Only one task may call this.
  func fate() async -> CommitResult {
    await withCheckedContinuation { continuation in
      let settled: CommitResult? = state.withLock { state in
        if case .settled(let fate) = state { return fate }
        state = .waiting(continuation)
        return nil
      }
      if let settled { continuation.resume(returning: settled) }
    }
  }
}
