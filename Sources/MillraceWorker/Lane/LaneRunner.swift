// Runs one lane: reads records from its partitions, runs handlers, and submits the outcomes to the committer. The actor
// owns the lane's state machines and executes their decisions.

internal import AppStore
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import MillraceCore
internal import MillraceRecords

/// The dependencies that the lanes of a worker share.
struct LaneParts: Sendable {
  var log: any RecordLog
  var commands: CommandConsumer
  var policy: WorkerPolicy
  /// Whether readers see the records of one write all at once.
  var isTransactional: Bool
  var topics: WorkerTopics
  var planner: OutcomePlanner
  var handler: any LaneHandling
  var deadline: @Sendable (NotificationEnvelope, Timestamp) -> Timestamp?
  var committer: Committer
  /// The time limits of handler runs.
  var limits: TimeLimits
  var clock: MillraceClock
  var metrics: WorkerMetrics
  var logger: Logger
}

/// One lane during one ownership.
actor LaneRunner {
  nonisolated let epoch: LaneEpoch
  nonisolated let parts: LaneParts
  nonisolated let partitions: [any LogPartition]
  nonisolated let pool: HandlerPool
  /// Signals that something new may be due.
  nonisolated let wakeUp = AsyncSignal()

  var watermarks: LaneWatermarks
  var ages = LaneAges()
  var keys: KeyedScheduler<LaneWork>
  /// The records whose handlers run. The crash mark names them for the next owner of the lane.
  var inHand: Set<SourcePosition> = []
  /// The timers whose handlers run, with the numbers that identify them in the crash mark.
  var timersInHand: [String: UInt64] = [:]
  var watch: PoisonDetector
  var isEnding = false
  private let end = WriteReceipt()
  private var hasMark = false
  var ledger: Ledger
  /// The offset after the last record read, by source.
  var taken: ByTopic<Int64>
  var waiting: [DueHeap<LaneItem>]
  var timers = DueHeap<String>(places: .max)
  /// The due timers that are queued with the records of their key.
  var firing: Set<String> = []
  /// Whether due work waits for a place. Then the next record or timer that leaves the lane sends a signal.
  var isHeldUp = false
  /// The number of calls that wait for a rate-limit slot at Apple.
  var waits = 0
  /// The number of records that are moving to another retry topic.
  var moving = 0
  private var places = LaneQuota()
  var sweptAt: Timestamp
  private let startedAt: Timestamp
  /// The offset in the ledger's topic up to which the lane was restored. The lane's own entries follow it.
  var ledgerEnd: Int64
  /// The writes of the current turn, which are submitted at its end.
  var outbox: [LaneWrite] = []
  var isGathering = false
  private(set) var isDraining = false
  private var isHandedBack = false
  private var isStopped = false
  /// Errors in handlers that are faults of the worker. The first one ends the worker.
  let fault: AsyncStream<MillraceError>.Continuation
  private let faults: AsyncStream<MillraceError>
  private var gates: [CheckedContinuation<Void, Never>] = []
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []

  init(
    epoch: LaneEpoch, partitions: [any LogPartition], starts: [String: Int64], ledger: Ledger, ledgerEnd: Int64,
    watch: PoisonDetector, parts: LaneParts
  ) {
    self.epoch = epoch
    self.parts = parts
    self.partitions = partitions
    self.ledger = ledger
    self.ledgerEnd = ledgerEnd
    (faults, fault) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    startedAt = parts.clock.wallTime
    sweptAt = startedAt
    watermarks = LaneWatermarks(startingAt: starts)
    taken = ByTopic(starts)
    let policy = parts.policy
    keys = KeyedScheduler(
      limits: .init(
        records: policy.recordsInFlight, bytes: policy.bytesInFlight, handlers: policy.parallelism,
        waiting: max(policy.parallelism, policy.recordsInFlight / 2)))
    keys.isOneAtATime = watch.isOneAtATime
    places = LaneQuota(records: policy.recordsInFlight)
    self.watch = watch
    waiting = parts.planner.schedule.delays.map { _ in
      DueHeap(places: policy.recordsInFlight, bytes: policy.bytesInFlight)
    }
    pool = HandlerPool(parts.handler, limits: parts.limits, clock: parts.clock, metrics: parts.metrics)
    for (name, timer) in ledger.timers { _ = timers.insert(name, due: timer.at) }
    parts.metrics.ledger(ledger.count, lane: epoch.lane)
  }

  /// Runs until ``stop()``.
  /// - Throws: ``KafkaError`` if a partition cannot be read; ``MillraceError`` if the worker writes to a topic that it
  ///   does not declare.
  func run() async throws {
    // After a crash, the next owner of the lane has to see that it was running.
    guard await writeMark() else { return }
    defer { pool.stop() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.execute(self.parts.commands) }
      for partition in partitions { group.addTask { try await self.take(from: partition) } }
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

  /// Stops reading records and starting handlers.
  /// - Returns: The number of handlers that still run.
  func stopTaking() -> Int {
    isDraining = true
    wakeUp.signal()
    openGates()
    return runningHandlers
  }

  /// Commits a clean end mark with the offsets.
  func writeEnd() {
    isEnding = true
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: end))
  }

  /// Whether the lane has run and no clean end mark was committed.
  var isLeftUnmarked: Bool { hasMark && end.settled != .committed }

  /// Commits the crash mark with the offsets.
  /// - Returns: False if the lane is gone.
  func writeMark() async -> Bool {
    let receipt = WriteReceipt()
    hasMark = true
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: receipt))
    return await receipt.fate() != .dropped
  }

  /// Cancels the handlers that still run. The next owner of the lane runs their records again.
  func handBack() {
    parts.logger.warning(
      "handlers did not return within drainTimeout; the lane's next owner runs their records again",
      metadata: ["lane": "\(epoch.lane)", "handlers": "\(runningHandlers)"])
    isHandedBack = true
    pool.stop()
    wakeIdleWaiters()
  }

  /// Ends ``run()``. Handlers that still run are cancelled, and their outcomes are dropped.
  func stop() {
    isDraining = true
    isStopped = true
    fault.finish()
    pool.stop()
    wakeUp.signal()
    openGates()
    wakeIdleWaiters()
  }

  /// Whether the lane was stopped. Later results are ignored.
  var isOver: Bool { isStopped }
  /// Whether the outcomes of handlers still count.
  var acceptsOutcomes: Bool { !isStopped && !isHandedBack }

  /// The offsets that the lane has read up to, whether it is idle, and the numbers of running handlers, of calls that
  /// wait for a rate-limit slot, and of records in memory.
  var rest: (taken: [String: Int64], isQuiet: Bool, isStill: Bool, handlers: Int, waits: Int, held: Int) {
    (taken.dictionary, isQuiet, isStill, keys.working, waits, keys.count + moving + waiting.map(\.count).reduce(0, +))
  }

  /// Whether no handler is ready or running, except in a wait, and nothing is due or being committed.
  private var isQuiet: Bool { isStill && keys.count == keys.waiting }

  /// Whether nothing is due or being committed. Handlers may still run.
  private var isStill: Bool {
    let now = parts.clock.wallTime
    let isAnythingDue = (waiting.map(\.nextDue) + [timers.nextDue]).contains { $0.map { $0 <= now } ?? false }
    return moving == 0 && ledger.stagedCount == 0 && !isAnythingDue
  }

  private var runningHandlers: Int { keys.working + keys.waiting }

  /// Whether a record delayed like this would have returned from its retry topic by now.
  func hasPassed(_ handled: Handled) -> Bool {
    RetryDelayPassage(
      delays: parts.planner.schedule.delays, nextDue: waiting.map(\.nextDue), started: startedAt,
      now: parts.clock.wallTime
    ).hasPassed(handled)
  }

  // MARK: - Places

  /// Adds a record to the queue of its key.
  /// - Returns: False if there is no room for it yet.
  func admit(_ item: LaneItem) -> Bool {
    guard places.hasRoom(for: item.source) else { return false }
    let isIn = keys.admit(
      .record(item), key: item.key, group: item.group, bytes: item.bytes, isReplay: item.source == .replay,
      deadline: item.deadline)
    if isIn { places.take(item.source) }
    return isIn
  }

  func hasPlace(for source: LaneSource, bytes: Int = 0) -> Bool {
    places.hasRoom(for: source) && keys.hasRoom(for: bytes)
  }

  /// Frees the place of a job whose outcome is in Kafka. A nil `job` is a record that moved to another retry topic.
  func release(_ job: LaneWrite.Job?) {
    guard let job else {
      moving -= 1
      return wakeUp.signal()
    }
    keys.settled(job.number)
    if let source = job.source { places.free(source) }
    if isHeldUp { wakeUp.signal() }
  }

  // MARK: - Waiting

  /// Waits until a record leaves the lane.
  func waitForRoom() async {
    guard !isDraining else { return }
    await withCheckedContinuation { gates.append($0) }
  }

  func openGates() {
    let waiters = gates
    gates = []
    for gate in waiters { gate.resume() }
  }

  func noteIdleness() {
    if runningHandlers == 0 { wakeIdleWaiters() }
  }

  /// Waits until no handler runs.
  func waitUntilIdle() async {
    guard runningHandlers > 0, acceptsOutcomes else { return }
    await withCheckedContinuation { idleWaiters.append($0) }
  }

  private func wakeIdleWaiters() {
    let waiters = idleWaiters
    idleWaiters = []
    for waiter in waiters { waiter.resume() }
  }
}
