// Runs one lane: feeds records, handler results, commits and time to its `LaneState`, and carries out what it decides.

internal import AppStore
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords
internal import MillraceTime

/// One lane during one ownership.
actor LaneRunner {
  nonisolated let epoch: LaneEpoch
  nonisolated let parts: LaneParts
  nonisolated let pool: HandlerPool
  /// The id of this ownership in the crash mark.
  nonisolated let owner: UInt32
  private nonisolated let partitions: [any LogPartition]
  /// Signals that something new may be due.
  private nonisolated let wakeUp = AsyncSignal()

  private var state: LaneState
  /// The offset in the ledger's topic up to which the lane was restored. The lane's own entries follow it.
  private let ledgerEnd: Int64
  private let ledgerIdentity: LedgerIdentity
  /// The inputs that the ledger does not list yet.
  private let newSources: [String]
  private var isMarked = false
  private let end = WriteReceipt()
  /// Errors in handlers that are faults of the worker. The first one ends the worker.
  private let fault: AsyncStream<MillraceError>.Continuation
  private let faults: AsyncStream<MillraceError>
  private var readers: [CheckedContinuation<Void, Never>] = []
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []

  init(
    epoch: LaneEpoch, partitions: [any LogPartition], starts: [String: Int64], newSources: [String],
    marks: [String: OffsetMark], ledger: Ledger, ledgerEnd: Int64, ledgerIdentity: LedgerIdentity,
    watch: PoisonDetector, parts: LaneParts
  ) {
    self.epoch = epoch
    self.parts = parts
    self.partitions = partitions
    self.newSources = newSources
    self.ledgerEnd = ledgerEnd
    self.ledgerIdentity = ledgerIdentity
    owner = watch.owner
    (faults, fault) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    state = LaneState(
      epoch: epoch, starts: starts, marks: marks, ledger: ledger,
      ledgerMark: LedgerMark(identity: ledgerIdentity.number, end: ledgerEnd), watch: watch, rules: parts.rules,
      now: parts.clock.wallTime)
    pool = HandlerPool(parts.handler, limits: parts.limits, clock: parts.clock, metrics: parts.metrics)
  }

  /// Runs until ``stop()``.
  /// - Throws: ``KafkaError`` if a partition cannot be read; ``TopicReplacement`` if it is another one;
  ///   ``MillraceError`` if the worker writes to a topic that it does not declare.
  func run() async throws {
    // After a crash, the next owner of the lane has to see that it was running.
    guard await writeMark(), await writeSources() else { return }
    defer { pool.stop() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await LaneCommands(lane: self, consumer: self.parts.commands).run() }
      for partition in partitions { group.addTask { try await PartitionReader(partition, of: self).run() } }
      group.addTask { try await self.keepTime() }
      group.addTask { [faults] in for await error in faults { throw error } }
      while let end = await group.nextResult() {
        guard case .failure(let error) = end, !(error is CancellationError) else { continue }
        // This also wakes tasks that wait for room. Otherwise the group would never end and the error would be lost.
        stop()
        group.cancelAll()
        throw error
      }
    }
  }

  /// Carries out what the state has decided.
  /// - Parameter isPoolsCall: Whether a task of the handler pool makes the call. It then runs the first job itself.
  private func carryOut(isPoolsCall: Bool = false) {
    let actions = state.takeActions()
    if !actions.writes.isEmpty { parts.committer.submit(actions.writes, of: epoch) }
    pool.submit(actions.jobs, to: self, isOwnCall: isPoolsCall)
    if actions.isTimeNews { wakeUp.signal() }
    if actions.hasRoom { wakeReaders() }
    if let error = actions.fault { fault.yield(error) }
  }

  // MARK: - Reading

  /// Waits for room. A full lane stops reading, which is its back-pressure.
  /// - Returns: False if the lane ends.
  func hasRoom(for source: LaneSource) async -> Bool {
    while state.isRunning {
      if state.hasRoom(for: source) { return true }
      await waitForRoom()
    }
    return false
  }

  /// Takes records.
  /// - Parameter end: The end of the partition, if the reader has reached it.
  func receive(_ items: [LaneItem], from topic: String, end: Int64?) async {
    for item in items {
      guard state.isRunning else { return }
      guard let item = state.receive(item, now: parts.clock.wallTime) else { continue }
      while !place(item) {
        await waitForRoom()
        guard state.isRunning else { return }
      }
    }
    if let end { state.reachedEnd(of: topic, at: end) }
    state.dispatch(now: parts.clock.wallTime)
    carryOut()
  }

  /// Places a record, if need be after the records before it have started: those that the ledger skips leave at once.
  private func place(_ item: LaneItem) -> Bool {
    if state.place(item) { return true }
    state.dispatch(now: parts.clock.wallTime)
    carryOut()
    return state.place(item)
  }

  /// Waits until a record leaves the lane.
  private func waitForRoom() async {
    guard state.isRunning else { return }
    await withCheckedContinuation { readers.append($0) }
  }

  private func wakeReaders() {
    let waiting = readers
    readers = []
    for reader in waiting { reader.resume() }
  }

  /// Runs due work until the lane drains or stops.
  private func keepTime() async throws {
    while state.isRunning {
      try Task.checkCancellation()
      // Read before the wall time: if time passes in between, the lane wakes too early and looks again.
      let began = parts.clock.now
      let now = parts.clock.wallTime
      let next = state.timePassed(now: now)
      carryOut()
      await wakeUp.wait(until: began.advanced(by: next - now), on: parts.clock)
    }
  }

  // MARK: - Ending

  /// Stops reading records and starting handlers.
  /// - Returns: The number of handlers that still run.
  func stopTaking() -> Int {
    state.enter(.draining)
    carryOut()
    return state.runningHandlers
  }

  /// Commits a clean end mark with the offsets.
  func writeEnd() {
    state.markEnd(end)
    carryOut()
  }

  /// Whether the lane has run and no clean end mark was committed.
  var isLeftUnmarked: Bool { isMarked && end.settled != .committed }

  /// Commits the crash mark with the offsets.
  /// - Returns: False if the lane is gone.
  func writeMark() async -> Bool {
    isMarked = true
    return await write([]) != .dropped
  }

  /// Lists the new inputs in the ledger, after their first offsets are committed: the next owner takes a listed input
  /// without an offset for one whose offset was deleted.
  /// - Returns: False if the lane is gone.
  private func writeSources() async -> Bool {
    guard !newSources.isEmpty else { return true }
    return await write([], newSources.map { .counter(LedgerIdentity.counter(ofSource: $0), 1) }) != .dropped
  }

  /// Cancels the handlers that still run. The next owner of the lane runs their records again.
  func handBack() {
    parts.logger.warning(
      "handlers did not return in time (drainTimeout); the lane's next owner runs their records again",
      metadata: ["lane": "\(epoch.lane)", "handlers": "\(state.runningHandlers)"])
    state.enter(.handedBack)
    carryOut()
    pool.stop()
    wakeIdleWaiters()
  }

  /// Ends ``run()``. Handlers that still run are cancelled, and their outcomes are dropped.
  func stop() {
    state.enter(.stopped)
    carryOut()
    fault.finish()
    pool.stop()
    wakeIdleWaiters()
  }

  /// Waits until no handler runs.
  func waitUntilIdle() async {
    guard state.runningHandlers > 0, state.acceptsOutcomes else { return }
    await withCheckedContinuation { idleWaiters.append($0) }
  }

  private func wakeIdleWaiters() {
    let waiters = idleWaiters
    idleWaiters = []
    for waiter in waiters { waiter.resume() }
  }

  /// Returns the part of the ledger that is known to be committed, to start from if the lane comes back to this process.
  /// The lane then reads everything else again, also what was committed without its knowledge.
  func keptLedger() -> KeptLedger {
    KeptLedger(
      ledger: state.committedLedger(), end: ledgerEnd, identity: ledgerIdentity, since: parts.clock.now)
  }

  // MARK: - Observing

  /// Whether the lane starts nothing more.
  var isDraining: Bool { !state.isRunning }

  /// The work that the lane holds.
  var rest: LaneRest { state.rest(now: parts.clock.wallTime) }

  /// How far the lane has come.
  var progress: LaneProgress { state.progress(now: parts.clock.wallTime) }

  /// Notes that sources were recognized after these records had been read.
  func recognized(after prints: [String: RecordFingerprint]) {
    for (topic, print) in prints { state.recognized(topic, after: print) }
  }

  /// The facts by which the lane recognizes its ledger.
  var ledgerMemory: PartitionMemory {
    PartitionMemory(end: state.ledgerMark?.end ?? 0, record: .identity(ledgerIdentity))
  }

  /// Notes that the ledger's topic reaches an offset.
  func ledgerReaches(_ end: Int64) {
    if let mark = state.ledgerMark { state.ledgerMark?.end = max(mark.end, end) }
  }

  /// Returns a timer, or nil if it is not set.
  func timer(_ name: String) -> LaneTimer? { state.ledger.timer(name) }

  // MARK: - Handlers and effects

  /// Takes the results of handler runs, and starts the records and timers that may run next.
  func collect() {
    let ends = pool.takeEnds()
    guard state.acceptsOutcomes else { return }
    let now = parts.clock.wallTime
    for (run, result) in ends {
      state.ended(run.job, result, open: run.recorder.close(), began: run.began, now: now)
    }
    state.dispatch(now: now)
    carryOut(isPoolsCall: true)
    if state.runningHandlers == 0 { wakeIdleWaiters() }
  }

  /// Begins an effect and returns after its intent is in Kafka.
  func begin(_ name: String, body: [UInt8], for run: LaneEffectRecorder) async -> EffectBeginning {
    guard counts(run) else { return .gone }
    let now = parts.clock.wallTime
    let receipt = WriteReceipt()
    let step = state.beginEffect(name, body: body, of: run.jobNumber, receipt: receipt, now: now)
    carryOut()
    switch step {
    case .ended(let result): return .ended(result)
    case .busy: return .busy
    case .perform(let body, let intendedAt):
      run.note(name)
      // The run that wrote the intent is over, but the intent may not be committed yet.
      if state.ledger.isStaged(.effect(name)) {
        guard await write([]) == .committed, counts(run) else { return .gone }
      }
      return .intended(EffectIntent(name: name, body: body, intendedAt: intendedAt, isRepeated: true))
    case .write:
      run.note(name)
      #if PLANTED_FAULTS
        if PlantedFault.effectBeforeIntent.isActive {
          return .intended(EffectIntent(name: name, body: body, intendedAt: now, isRepeated: false))
        }
      #endif
      guard await receipt.fate() == .committed, counts(run) else { return .gone }
      return .intended(EffectIntent(name: name, body: body, intendedAt: now, isRepeated: false))
    }
  }

  /// Whether the outcome and the effects of a run still count.
  private func counts(_ run: LaneEffectRecorder) -> Bool {
    state.acceptsOutcomes && !run.isClosed && !state.isWithdrawn(run.jobNumber)
  }

  /// Returns the status of an effect, including uncommitted changes.
  func status(of name: String) -> EffectStatus? { state.ledger.effect(name).map { EffectStatus($0) } }

  /// Returns a state that an outcome stored, including uncommitted ones.
  /// - Throws: `CancellationError` if the run no longer counts.
  func state(_ name: String, for run: LaneEffectRecorder) throws(CancellationError) -> [UInt8]? {
    guard counts(run) else { throw CancellationError() }
    return state.ledger.state(name)
  }

  /// Records the result of an effect.
  /// - Returns: False if the run no longer counts. The result is then not recorded: the intent remains, and the next
  ///   run sends the same bytes.
  func end(_ name: String, result: [UInt8], for run: LaneEffectRecorder) -> Bool {
    guard state.phase < .stopped, run.settle(name) else { return false }
    state.endEffect(name, result: result)
    carryOut()
    return true
  }

  /// Withdraws an intent. A run that is over withdraws nothing, as a later run may be performing the effect.
  func withdraw(_ name: String, for run: LaneEffectRecorder) {
    guard state.phase < .stopped, run.settle(name) else { return }
    state.withdrawEffect(name)
    carryOut()
  }

  /// - Returns: False if too many records of the app already wait. The record then has to leave the lane.
  func beginWaiting(_ run: LaneEffectRecorder) -> Bool {
    guard counts(run) else { return false }
    let mayWait = state.beginWaiting(run.jobNumber, isFirst: run.countWait(0) == 0, now: parts.clock.wallTime)
    carryOut()
    if mayWait { _ = run.countWait(1) }
    return mayWait
  }

  func endWaiting(_ run: LaneEffectRecorder) {
    // The number of an abandoned run may already belong to the next run.
    state.endWaiting(of: !run.isClosed && run.countWait(-1) == 0 ? run.jobNumber : nil)
  }
}

/// The result of an attempt to begin an effect.
enum EffectBeginning: Sendable {
  case intended(EffectIntent)
  case ended([UInt8])
  /// Another run is still performing the effect.
  case busy
  /// The lane was revoked before the intent was written.
  case gone
}

// MARK: - Commits

extension LaneRunner: CommitLane {
  /// Writes records at once, and returns the result. A write without records waits for those before it.
  func write(
    _ records: [ProducerRecord], _ entries: [LedgerEntry] = [], settingAgain timers: [NamedTimer] = []
  ) async -> CommitResult {
    let receipt = WriteReceipt()
    state.submit(
      LaneWrite(lane: epoch, records: records, entries: entries, isUrgent: true, receipt: receipt),
      settingAgain: timers)
    carryOut()
    return await receipt.fate()
  }

  /// Erases everything that the lane keeps about customers. Returns the result of the writes. The lane continues while
  /// the search reads its ledger.
  func erase(_ customers: [ErasedCustomer]) async -> CommitResult {
    let found = await state.searchErased(customers).run()
    let receipt = WriteReceipt()
    state.erase(customers, found: found, receipt: receipt)
    carryOut()
    return await receipt.fate()
  }

  func seal(_ writes: [LaneWrite]) -> LaneCommit? {
    var generator = SystemRandomNumberGenerator()
    return state.seal(writes, pageNumber: generator.next(), now: parts.clock.wallTime)
  }

  func committed(_ commit: LaneCommit) {
    state.committed(commit, now: parts.clock.wallTime)
    carryOut()
  }
}

/// The ledger of a lane that has left this process.
struct KeptLedger: Sendable {
  var ledger: Ledger
  /// The offset from which the ledger's topic has to be read.
  var end: Int64
  var identity: LedgerIdentity
  /// When the lane left.
  var since: MillraceClock.Instant

  /// Whether the ledger can still be used. Compaction keeps tombstones for a day (`delete.retention.ms`), so an older
  /// ledger could set a timer again that has fired. It would also take memory for a lane that may never come back.
  func isFresh(at now: MillraceClock.Instant) -> Bool { since.duration(to: now) < .seconds(3_600) }
}
