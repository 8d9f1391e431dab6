// One lane at work: takes records from its partitions, lets handlers run, hands what follows to the committer. The actor
// holds the lane's values and carries out what they decide.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Logging

/// What the lanes of a worker share.
struct LaneParts: Sendable {
  var log: any RecordLog
  var desk: OperationsDesk
  var policy: WorkerPolicy
  /// Whether what a lane writes together is seen together.
  var isTransactional: Bool
  var topics: WorkerTopics
  var planner: OutcomePlanner
  var handler: any LaneHandling
  var deadline: @Sendable (NotificationEnvelope, Timestamp) -> Timestamp?
  var committer: Committer
  /// Of the time of one run of a handler.
  var limits: TimeLimits
  var clock: MillraceClock
  var metrics: WorkerMetrics
  var logger: Logger
}

/// One lane during one time of ownership.
actor LaneRunner {
  nonisolated let epoch: LaneEpoch
  nonisolated let parts: LaneParts
  nonisolated let partitions: [any LogPartition]
  nonisolated let crew: LaneCrew
  /// Rung when something new may be due.
  nonisolated let bell = LaneBell()

  var watermarks: LaneWatermarks
  var ages = LaneAges()
  var keys: KeyLanes<LaneWork>
  /// What is with a handler, for whoever starts the lane after a crash.
  var inHand: Set<SourcePosition> = []
  /// Timers that are, with what stands for them in the lane's mark.
  var timersInHand: [String: UInt64] = [:]
  var watch: PoisonWatch
  var isEnding = false
  private let end = WriteReceipt()
  private var hasMark = false
  var ledger: Ledger
  /// The offset behind the last record taken, by source.
  var taken: ByTopic<Int64>
  var waiting: [DueHeap<LaneItem>]
  var timers = DueHeap<String>(places: .max)
  /// Timers that are due and have their place among the records of their key.
  var firing: Set<String> = []
  /// Whether something is due that has no place yet: whoever leaves rings.
  var isHeldUp = false
  /// Calls that wait for their turn at Apple.
  var waits = 0
  /// Records on their way to another tier.
  var moving = 0
  private var places = LanePlaces()
  var sweptAt: Timestamp
  private let startedAt: Timestamp
  /// The offset in the ledger's topic up to which the lane was restored; what it wrote since stands behind it.
  var ledgerEnd: Int64
  /// What is on its way to the committer while a turn of the lane lasts.
  var outbox: [LaneWrite] = []
  var isGathering = false
  private(set) var isDraining = false
  private var isHandedBack = false
  private var isStopped = false
  /// Errors of a handler that are the worker's; the first ends it.
  let fault: AsyncStream<MillraceError>.Continuation
  private let faults: AsyncStream<MillraceError>
  private var gates: [CheckedContinuation<Void, Never>] = []
  private var idleWaiters: [CheckedContinuation<Void, Never>] = []

  init(
    epoch: LaneEpoch, partitions: [any LogPartition], starts: [String: Int64], ledger: Ledger, ledgerEnd: Int64,
    watch: PoisonWatch, parts: LaneParts
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
    keys = KeyLanes(
      limits: .init(
        records: policy.recordsInFlight, bytes: policy.bytesInFlight, handlers: policy.parallelism,
        waiting: max(policy.parallelism, policy.recordsInFlight / 2)))
    keys.isOneAtATime = watch.isOneAtATime
    places = LanePlaces(records: policy.recordsInFlight)
    self.watch = watch
    waiting = parts.planner.schedule.delays.map { _ in
      DueHeap(places: policy.recordsInFlight, bytes: policy.bytesInFlight)
    }
    crew = LaneCrew(parts.handler, limits: parts.limits, clock: parts.clock, metrics: parts.metrics)
    for (name, timer) in ledger.timers { _ = timers.insert(name, due: timer.at) }
    parts.metrics.ledger(ledger.count, lane: epoch.lane)
  }

  /// Works until ``stop()``.
  /// - Throws: ``KafkaError`` of a partition that cannot be read; ``MillraceError`` of a worker that writes to a topic
  ///   that it does not declare.
  func run() async throws {
    // Whoever starts the lane after a crash has to find that it was running.
    guard await writeMark() else { return }
    defer { crew.stop() }
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await self.obey(self.parts.desk) }
      for partition in partitions { group.addTask { try await self.take(from: partition) } }
      group.addTask { try await self.keepTime() }
      group.addTask { [faults] in for await error in faults { throw error } }
      while let end = await group.nextResult() {
        guard case .failure(let error) = end, !(error is CancellationError) else { continue }
        // Also wakes what waits for room, or the group would never end and nobody would hear of the error.
        stop()
        group.cancelAll()
        throw error
      }
    }
  }

  /// Takes no more records and hands out no more.
  /// - Returns: How many handlers still run.
  func stopTaking() -> Int {
    isDraining = true
    bell.ring()
    openGates()
    return runningHandlers
  }

  /// The lane ends in order: says so beside the offsets.
  func writeEnd() {
    isEnding = true
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: end))
  }

  /// Whether the lane has run, and whoever starts it next finds no mark of an end in order.
  var isLeftUnmarked: Bool { hasMark && end.settled != .committed }

  /// Commits the offsets with the lane's mark beside them.
  /// - Returns: false where the lane is gone.
  func writeMark() async -> Bool {
    let receipt = WriteReceipt()
    hasMark = true
    submit(LaneWrite(lane: epoch, isUrgent: true, receipt: receipt))
    return await receipt.fate() != .dropped
  }

  /// Cancels the handlers that still run. Their records are left to the lane's next owner.
  func handBack() {
    parts.logger.warning(
      "handlers did not end in time; their records are left to the lane's next owner",
      metadata: ["lane": "\(epoch.lane)", "handlers": "\(runningHandlers)"])
    isHandedBack = true
    crew.stop()
    wakeIdleWaiters()
  }

  /// Ends ``run()``. Handlers that still run are cancelled, and what they decide is dropped.
  func stop() {
    isDraining = true
    isStopped = true
    fault.finish()
    crew.stop()
    bell.ring()
    openGates()
    wakeIdleWaiters()
  }

  /// Whether the lane was stopped: what comes now counts for nothing.
  var isOver: Bool { isStopped }
  /// Whether what a handler decides still counts.
  var acceptsOutcomes: Bool { !isStopped && !isHandedBack }

  /// How far the lane has read, and whether it came to rest there; how many handlers work, how many calls wait for their
  /// turn, and how many records are in memory.
  var rest: (taken: [String: Int64], isQuiet: Bool, isStill: Bool, handlers: Int, waits: Int, held: Int) {
    (taken.dictionary, isQuiet, isStill, keys.working, waits, keys.count + moving + waiting.map(\.count).reduce(0, +))
  }

  /// Whether nothing is with a handler that works, ready for one, due, or on its way to Kafka.
  private var isQuiet: Bool { isStill && keys.count == keys.waiting }

  /// Whether nothing is due or on its way to Kafka, whatever handlers do.
  private var isStill: Bool {
    let now = parts.clock.wallTime
    let isAnythingDue = (waiting.map(\.nextDue) + [timers.nextDue]).contains { $0.map { $0 <= now } ?? false }
    return moving == 0 && ledger.stagedCount == 0 && !isAnythingDue
  }

  private var runningHandlers: Int { keys.working + keys.waiting }

  /// Whether what was parked so would have come back by now.
  func hasPassed(_ handled: Handled) -> Bool {
    TierPassage(
      delays: parts.planner.schedule.delays, nextDue: waiting.map(\.nextDue), started: startedAt,
      now: parts.clock.wallTime
    ).hasPassed(handled)
  }

  // MARK: - Places

  /// Takes a record in among those of its key.
  /// - Returns: false where it has to wait.
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

  /// What followed from a record or a timer is in Kafka.
  func release(_ job: LaneWrite.Job?) {
    guard let job else {
      moving -= 1
      return bell.ring()
    }
    keys.settled(job.number)
    if let source = job.source { places.free(source) }
    if isHeldUp { bell.ring() }
  }

  // MARK: - Waiting

  /// Waits until something left the lane.
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
