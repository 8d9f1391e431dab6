// Named effects of one run of a handler, written down in the lane's ledger.

internal import Clocks
internal import Kafka
internal import Synchronization

/// The effects that one run has begun.
final class LaneJournal: EffectJournal {
  private let lane: LaneRunner
  private let open = Mutex<Set<String>>([])

  init(lane: LaneRunner) { self.lane = lane }

  func begin(_ name: String, body: [UInt8]) async throws -> EffectProgress {
    open.withLock { _ = $0.insert(name) }
    switch await lane.begin(name, body: body) {
    case .intended(let intent): return .intended(intent)
    case .ended(let result):
      open.withLock { _ = $0.remove(name) }
      return .ended(result)
    case .busy:
      open.withLock { _ = $0.remove(name) }
      throw RetryableFailure("the effect \(name) is being caused by another notification")
    case .gone: throw CancellationError()
    }
  }

  func end(_ name: String, result: [UInt8]) async throws {
    open.withLock { _ = $0.remove(name) }
    await lane.end(name, result: result)
  }

  /// The names begun and not ended: what became of them is unclear.
  func takeOpen() -> Set<String> {
    open.withLock { names in
      defer { names = [] }
      return names
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
  func begin(_ name: String, body: [UInt8]) async -> EffectBeginning {
    guard !isOver else { return .gone }
    let now = parts.clock.wallTime
    switch ledger.beginEffect(name, body: body, now: now) {
    case .ended(let result): return .ended(result)
    case .busy: return .busy
    case .perform(let body, let intendedAt):
      return .intended(EffectIntent(name: name, body: body, intendedAt: intendedAt, isRepeated: true))
    case .write(let entry):
      let receipt = WriteReceipt()
      ledger.stage(entry)
      submit(LaneWrite(lane: epoch, entries: [entry], isUrgent: true, receipt: receipt))
      guard await receipt.fate() == .committed else { return .gone }
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
    for name in journal.takeOpen() { ledger.leaveEffect(name) }
  }
}
