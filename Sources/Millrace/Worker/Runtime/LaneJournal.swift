// What one run of a handler has of its lane: named effects, written down in the lane's ledger, and leave to wait.

internal import Clocks
internal import Kafka
internal import Synchronization

/// The effects that one run has begun, and its waits.
final class LaneJournal: EffectJournal {
  private struct State {
    var open: Set<String> = []
    var waits = 0
    var isClosed = false
  }

  private let lane: LaneRunner
  /// The run's number among those of the lane.
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
    case .busy: throw RetryableFailure("the effect \(name) is being caused by another run")
    case .gone: throw CancellationError()
    }
  }

  func end(_ name: String, result: [UInt8]) async throws {
    state.withLock { _ = $0.open.remove(name) }
    await lane.end(name, result: result)
  }

  func withdraw(_ name: String) async {
    state.withLock { _ = $0.open.remove(name) }
    await lane.withdraw(name)
  }

  func state(_ name: String) async throws -> [UInt8]? {
    guard await lane.acceptsOutcomes, !isClosed else { throw CancellationError() }
    return await lane.ledger.state(name)
  }

  func standing(of name: String) async -> EffectStanding? { await lane.standing(of: name) }

  func beginWaiting() async -> Bool { await lane.beginWaiting(self) }
  func endWaiting() async { await lane.endWaiting(self) }

  /// Counts a wait that begins or ends; a run may have several calls on their way.
  /// - Returns: how many there are.
  func countWait(_ change: Int) -> Int {
    state.withLock { state in
      state.waits += change
      return state.waits
    }
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
      // The run that intended it is over, and what it wrote may still be on its way.
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

  /// How an effect stands, what is not committed yet included.
  func standing(of name: String) -> EffectStanding? { ledger.effect(name).map { EffectStanding($0) } }

  /// Notes an effect's result; it is written with the handler's outcome or before it.
  func end(_ name: String, result: [UInt8]) {
    guard !isOver, let entry = ledger.endEffect(name, result: result) else { return }
    ledger.stage(entry)
    submit(LaneWrite(lane: epoch, entries: [entry]))
  }

  /// Takes an intent back; written with the handler's outcome or before it. Until then it stands as one whose end nobody
  /// knows.
  func withdraw(_ name: String) {
    guard !isOver, let entry = ledger.withdrawEffect(name) else { return }
    ledger.stage(entry)
    submit(LaneWrite(lane: epoch, entries: [entry]))
  }

  /// Whether what was handed in up to now is in Kafka; returns when that is known.
  private func isEverythingCommitted() async -> Bool {
    let receipt = WriteReceipt()
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: receipt))
    return await receipt.fate() == .committed
  }

  /// A run is over: what it began and did not end is free for the next.
  func close(_ journal: LaneJournal) {
    for name in journal.close() { ledger.leaveEffect(name) }
    keys.resume(journal.job)
  }

  // MARK: - Waiting for Apple

  /// - Returns: false where the record has to leave the lane instead: as many of its app wait as may.
  func beginWaiting(_ journal: LaneJournal) -> Bool {
    guard acceptsOutcomes, !isDraining, !journal.isClosed else { return false }
    if journal.countWait(0) == 0 {
      guard keys.wait(journal.job) else { return false }
      dispatch()
    }
    waits += 1
    _ = journal.countWait(1)
    return true
  }

  func endWaiting(_ journal: LaneJournal) {
    waits -= 1
    // Of a run that was given up the next one has the number.
    guard !journal.isClosed, journal.countWait(-1) == 0 else { return }
    keys.resume(journal.job)
  }
}
