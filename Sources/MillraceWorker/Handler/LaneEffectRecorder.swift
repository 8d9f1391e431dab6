// Connects one handler run to its lane: records named effects in the lane's ledger and grants waits.

internal import MillraceTime
internal import KafkaClient
internal import Synchronization

/// The effects that one handler run has begun, and its waits.
final class LaneEffectRecorder: EffectRecorder {
  private struct State {
    var open: Set<String> = []
    var waits = 0
    var isClosed = false
  }

  private let lane: LaneRunner
  /// The number of the run within its lane.
  let job: UInt64
  private let state = Mutex(State())

  init(lane: LaneRunner, job: UInt64) {
    self.lane = lane
    self.job = job
  }

  func begin(_ name: String, body: [UInt8]) async throws -> EffectProgress {
    switch await lane.begin(name, body: body, for: self) {
    case .intended(let intent): return .intended(intent)
    case .ended(let result): return .ended(result)
    case .busy: throw EffectBusy(name: name)
    case .gone: throw CancellationError()
    }
  }

  func end(_ name: String, result: [UInt8]) async throws {
    guard await lane.end(name, result: result, for: self) else { throw CancellationError() }
  }

  func withdraw(_ name: String) async {
    await lane.withdraw(name, for: self)
  }

  func state(_ name: String) async throws -> [UInt8]? {
    guard await lane.acceptsOutcomes, !isClosed else { throw CancellationError() }
    return await lane.ledger.state(name)
  }

  func status(of name: String) async -> EffectStatus? { await lane.status(of: name) }

  func beginWaiting() async -> Bool { await lane.beginWaiting(self) }
  func endWaiting() async { await lane.endWaiting(self) }

  /// Changes the number of waits. A run may wait in several calls at once.
  /// - Returns: The new number.
  func countWait(_ change: Int) -> Int {
    state.withLock { state in
      state.waits += change
      return state.waits
    }
  }

  /// Records that the lane has begun an effect for this run.
  func note(_ name: String) { state.withLock { _ = $0.open.insert(name) } }

  /// Ends an effect.
  /// - Returns: False if the run is over or has not begun the effect. The effect then belongs to a later run.
  func settle(_ name: String) -> Bool { state.withLock { $0.open.remove(name) != nil } }

  /// Whether the run is over. An abandoned handler cannot begin an effect.
  var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Ends the run.
  /// - Returns: The effects that were begun but not ended; their results are unknown.
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
    /// The lane was revoked before the intent was written.
    case gone
  }

  /// Begins an effect and returns after its intent is in Kafka.
  func begin(_ name: String, body: [UInt8], for journal: LaneEffectRecorder) async -> EffectBeginning {
    guard acceptsOutcomes, !journal.isClosed else { return .gone }
    let now = parts.clock.wallTime
    switch ledger.beginEffect(name, body: body, now: now) {
    case .ended(let result): return .ended(result)
    case .busy: return .busy
    case .perform(let body, let intendedAt):
      journal.note(name)
      // The run that wrote the intent is over, but the intent may not be committed yet.
      if ledger.isStaged(.effect(name)) {
        guard await isEverythingCommitted(), acceptsOutcomes, !journal.isClosed else { return .gone }
      }
      return .intended(EffectIntent(name: name, body: body, intendedAt: intendedAt, isRepeated: true))
    case .write(let entry):
      journal.note(name)
      let receipt = WriteReceipt()
      ledger.stage(entry)
      submit(LaneWrite(lane: epoch, entries: [entry], isUrgent: true, receipt: receipt))
      guard await receipt.fate() == .committed, acceptsOutcomes, !journal.isClosed else { return .gone }
      return .intended(EffectIntent(name: name, body: body, intendedAt: now, isRepeated: false))
    }
  }

  /// Returns the status of an effect, including uncommitted changes.
  func status(of name: String) -> EffectStatus? { ledger.effect(name).map { EffectStatus($0) } }

  /// Records the result of an effect. It is committed with the handler's outcome or earlier.
  /// - Returns: False if the run no longer counts. The result is then not recorded: the intent remains, and the next
  ///   run sends the same bytes.
  func end(_ name: String, result: [UInt8], for journal: LaneEffectRecorder) -> Bool {
    guard !isOver, journal.settle(name) else { return false }
    guard let entry = ledger.endEffect(name, result: result) else { return true }
    ledger.stage(entry)
    submit(LaneWrite(lane: epoch, entries: [entry]))
    return true
  }

  /// Withdraws an intent. The change is committed with the handler's outcome or earlier. Until then the effect counts
  /// as one with an unknown result. A run that is over withdraws nothing, as a later run may be performing the effect.
  func withdraw(_ name: String, for journal: LaneEffectRecorder) {
    guard !isOver, journal.settle(name), let entry = ledger.withdrawEffect(name) else { return }
    ledger.stage(entry)
    submit(LaneWrite(lane: epoch, entries: [entry]))
  }

  /// Waits for the writes submitted so far, and returns whether they are in Kafka.
  private func isEverythingCommitted() async -> Bool {
    let receipt = WriteReceipt()
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: receipt))
    return await receipt.fate() == .committed
  }

  /// Ends a run. Effects that it began but did not end become available to the next run.
  func close(_ journal: LaneEffectRecorder) {
    for name in journal.close() { ledger.leaveEffect(name) }
    keys.resume(journal.job)
  }

  // MARK: - Waiting for a rate-limit slot

  /// - Returns: False if too many records of the app already wait. The record then has to leave the lane.
  func beginWaiting(_ journal: LaneEffectRecorder) -> Bool {
    guard acceptsOutcomes, !isDraining, !journal.isClosed else { return false }
    if journal.countWait(0) == 0 {
      guard keys.wait(journal.job) else { return false }
      dispatch()
    }
    waits += 1
    _ = journal.countWait(1)
    return true
  }

  func endWaiting(_ journal: LaneEffectRecorder) {
    waits -= 1
    // The number of an abandoned run may already belong to the next run.
    guard !journal.isClosed, journal.countWait(-1) == 0 else { return }
    keys.resume(journal.job)
  }
}

/// Another run is still performing the effect.
struct EffectBusy: Error, CustomStringConvertible {
  var name: String

  var description: String { "another run is still performing the effect \(name)" }
}
