// Named effects of one run of a handler, written down in the lane's ledger.

internal import Clocks
internal import Kafka
internal import Synchronization

/// The effects that one run has begun.
final class LaneJournal: EffectJournal {
  private struct State {
    var open: Set<String> = []
    var isClosed = false
  }

  private let lane: LaneRunner
  private let state = Mutex(State())

  init(lane: LaneRunner) { self.lane = lane }

  func begin(_ name: String, body: [UInt8]) async throws -> EffectProgress {
    switch await lane.begin(name, body: body, for: self) {
    case .intended(let intent): return .intended(intent)
    case .ended(let result): return .ended(result)
    case .busy: throw RetryableFailure("the effect \(name) is being caused by another run")
    case .gone: throw CancellationError()
    }
  }

  func end(_ name: String, result: [UInt8]) async throws {
    state.withLock { _ = $0.open.remove(name) }
    await lane.end(name, result: result)
  }

  /// Notes what the lane has begun for this run.
  func note(_ name: String) { state.withLock { _ = $0.open.insert(name) } }

  /// Whether the run is over: a handler that was left behind begins nothing any more.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// The run is over.
  /// - Returns: The names begun and not ended: what became of them is unclear.
  func close() -> Set<String> {
    state.withLock { state in
      defer { state = State(isClosed: true) }
      return state.open
    }
  }
}

extension LaneRunner {
  enum EffectBeginning: Sendable {
    case intended(EffectIntent)
    case ended([UInt8])
    case busy
    /// The lane was taken away before the intent was written.
    case gone
  }

  /// Begins an effect; returns once its intent is in Kafka.
  func begin(_ name: String, body: [UInt8], for journal: LaneJournal) async -> EffectBeginning {
    guard acceptsOutcomes, !journal.isClosed else { return .gone }
    let now = parts.clock.wallTime
    switch ledger.beginEffect(name, body: body, now: now) {
    case .ended(let result): return .ended(result)
    case .busy: return .busy
    case .perform(let body, let intendedAt):
      journal.note(name)
      return .intended(EffectIntent(name: name, body: body, intendedAt: intendedAt, isRepeated: true))
    case .write(let entry):
      journal.note(name)
      let receipt = WriteReceipt()
      ledger.stage(entry)
      submit(LaneWrite(lane: epoch, entries: [entry], isUrgent: true, receipt: receipt))
      guard await receipt.fate() == .committed, !journal.isClosed else { return .gone }
      return .intended(EffectIntent(name: name, body: body, intendedAt: now, isRepeated: false))
    }
  }

  /// Notes an effect's result; it is written with the handler's outcome or before it.
  func end(_ name: String, result: [UInt8]) {
    guard !isOver, let entry = ledger.endEffect(name, result: result) else { return }
    ledger.stage(entry)
    submit(LaneWrite(lane: epoch, entries: [entry]))
  }

  /// A run is over: what it began and did not end is free for the next.
  func close(_ journal: LaneJournal) {
    for name in journal.close() { ledger.leaveEffect(name) }
  }
}
