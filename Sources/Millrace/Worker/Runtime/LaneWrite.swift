// What a lane hands to the committer: everything that must become visible together.

internal import Kafka
internal import Synchronization

/// One decision of a lane on its way into Kafka.
struct LaneWrite: Sendable {
  /// The lane and the epoch of its ownership; a write of an epoch that is over is dropped.
  var lane: LaneEpoch
  /// The handler's job that it settles; nil for intents and records that only move on.
  var job: Job?
  /// The source record that is finished by it; nil for intents and timers.
  var finishes: SourcePosition?
  /// The timer that is, by ``PoisonWatch/mark(of:_:)``.
  var fires: UInt64?
  /// Events, parked records, dead letters, tables.
  var records: [ProducerRecord] = []
  /// What the ledger is to remember.
  var entries: [LedgerEntry] = []
  /// Whether somebody waits for it: its commit begins at once.
  var isUrgent = false
  /// Told once, when the write is committed or dropped.
  var receipt: WriteReceipt?

  /// A record or a timer that was handed out.
  struct Job: Sendable, Hashable {
    /// Its number among those of the lane.
    var number: UInt64
    /// From which kind of topic it came, and whose place it has; nil for a timer, which has none of these.
    var source: LaneSource?
  }
}

/// What became of a write.
enum WriteFate: Sendable, Hashable {
  case committed
  /// It is in Kafka, and the group did not take the offsets that go with it: the lane may be another's already. Occurs
  /// without transactions only.
  case written
  /// The lane was taken away before: whoever owns it now starts from what was committed.
  case dropped
}

/// Tells one waiter what became of a write.
final class WriteReceipt: Sendable {
  private enum State {
    case open
    case waiting(CheckedContinuation<WriteFate, Never>)
    case settled(WriteFate)
  }

  private let state = Mutex(State.open)

  func settle(_ fate: WriteFate) {
    let waiter: CheckedContinuation<WriteFate, Never>? = state.withLock { state in
      defer { if case .settled = state {} else { state = .settled(fate) } }
      if case .waiting(let continuation) = state { return continuation }
      return nil
    }
    waiter?.resume(returning: fate)
  }

  /// The fate as far as it is known.
  var settled: WriteFate? {
    state.withLock { state in
      if case .settled(let fate) = state { fate } else { nil }
    }
  }

  /// Waits for the fate. One caller only.
  func fate() async -> WriteFate {
    await withCheckedContinuation { continuation in
      let settled: WriteFate? = state.withLock { state in
        if case .settled(let fate) = state { return fate }
        state = .waiting(continuation)
        return nil
      }
      if let settled { continuation.resume(returning: settled) }
    }
  }
}
