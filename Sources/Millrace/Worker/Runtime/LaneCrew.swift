// The hands of a lane: tasks that go from job to job. A task and a hop to the lane for each record would cost several
// times what a small handler does.

internal import AppStore
internal import Clocks
internal import Kafka
internal import Synchronization

/// What a handler is to run for.
enum LaneJob: Sendable {
  /// A record; the digest is that of the outcome it replaces, where it is run again on an operator's word. Named records
  /// and timers are written down before they run: the lane suspects them.
  case record(UInt64, LaneItem, replacing: UInt32?, isNamed: Bool)
  case timer(UInt64, String, LaneTimer, isNamed: Bool)
}

/// The end of one run.
struct LaneEnd: Sendable {
  var job: LaneJob
  var journal: LaneJournal
  var began: Timestamp
  var result: HandlerResult
}

/// Runs the handlers of a lane.
///
/// A task takes job after job, and the lane hears of many ends at once: when no job is left, or a millisecond after the
/// first. As soon as one task has taken a job and left others behind, a second one is on its way: so a handler that
/// waits holds up nobody, and handlers that do not wait need one task. How many may work is what the lane hands out.
///
/// A handler whose time is over, or whose lane is, is cancelled and left behind with its task; its outcome is not
/// believed any more.
final class LaneCrew: Sendable {
  fileprivate struct Run: Sendable {
    var job: LaneJob
    var journal: LaneJournal
    var began: Timestamp
    var hand: Hand
    var limit: UInt64
  }

  private struct State {
    var jobs = FIFO<LaneJob>()
    var runs: [UInt64: Run] = [:]
    var lastRun: UInt64 = 0
    var ends: [LaneEnd] = []
    var firstEnd: MillraceClock.Instant?
    var isReporting = false
    var idle: [UnsafeContinuation<Void, Never>] = []
    var isWaking = false
    var isOver = false
    /// Runs that were left behind when the crew was stopped.
    var leftBehind: Set<UInt64> = []
    var whenEmpty: (@Sendable () -> Void)?

    /// Whether there are ends that nobody is about to tell the lane of.
    var hasUntold: Bool { firstEnd != nil && !isReporting }

    /// Whether the lane is to hear of ends now.
    func isReportDue(at now: MillraceClock.Instant) -> Bool {
      guard let firstEnd, hasUntold else { return false }
      return jobs.isEmpty || firstEnd.duration(to: now) >= LaneCrew.slice
    }

    /// Whom to tell now that nobody works any more.
    mutating func takeWhenEmpty() -> (@Sendable () -> Void)? {
      guard isOver, leftBehind.isEmpty else { return nil }
      defer { whenEmpty = nil }
      return whenEmpty
    }
  }

  private enum Step {
    case run(UInt64, LaneJob, LaneJournal)
    case report
    case rest
    case leave
  }

  private enum Wake {
    case hand(UnsafeContinuation<Void, Never>)
    case newHand
  }

  /// How long a task goes on before it lets others have its thread, and an end waits for others to be told of.
  private static let slice = Duration.milliseconds(1)
  /// Tasks that are kept for the next job.
  private static let mostIdle = 16

  private let handler: any LaneHandling
  private let limits: TimeLimits
  private let clock: MillraceClock
  private let metrics: WorkerMetrics
  private let state = Mutex(State())

  init(_ handler: any LaneHandling, limits: TimeLimits, clock: MillraceClock, metrics: WorkerMetrics) {
    self.handler = handler
    self.limits = limits
    self.clock = clock
    self.metrics = metrics
  }

  /// Takes jobs, to be begun in this order.
  /// - Parameter isOwnCall: Whether one of the crew's own tasks brings them and goes on with the first.
  func hand(_ jobs: [LaneJob], to lane: LaneRunner, isOwnCall: Bool = false) {
    guard !jobs.isEmpty else { return }
    let wake = state.withLock { state -> Wake? in
      guard !state.isOver else { return nil }
      for job in jobs { state.jobs.append(job) }
      return isOwnCall ? nil : Self.wake(&state)
    }
    carryOut(wake, lane)
  }

  /// The ends that the lane has not heard of.
  func takeEnds() -> [LaneEnd] {
    state.withLock { state in
      defer {
        state.ends.removeAll(keepingCapacity: true)
        state.firstEnd = nil
        state.isReporting = false
      }
      return state.ends
    }
  }

  /// Begins nothing any more. What runs is cancelled and left behind.
  func stop() {
    let (runs, idle) = state.withLock { state in
      state.isOver = true
      state.jobs = FIFO()
      state.leftBehind.formUnion(state.runs.keys)
      defer {
        state.runs = [:]
        state.idle = []
      }
      return (Array(state.runs.values), state.idle)
    }
    for run in runs { leaveBehind(run) }
    for hand in idle { hand.resume() }
  }

  /// Has `action` done once the crew was stopped and the last handler that was left behind then came back. Those that
  /// were given up before for taking too long are not waited for: what became of their records was decided.
  func whenEmpty(_ action: @escaping @Sendable () -> Void) {
    let action = state.withLock { state in
      state.whenEmpty = action
      return state.takeWhenEmpty()
    }
    action?()
  }

  // MARK: - One hand

  private func work(_ hand: Hand, for lane: LaneRunner) async {
    state.withLock { $0.isWaking = false }
    let expire: @Sendable (UInt64) -> Void = { self.expire($0, for: lane) }
    var sliceEnd = clock.now.advanced(by: Self.slice)
    while true {
      let now = clock.now
      if now >= sliceEnd {
        await Task.yield()
        sliceEnd = clock.now.advanced(by: Self.slice)
      }
      switch next(hand, for: lane, now: now, expire) {
      case .run(let number, let job, let journal):
        guard await run(number, job, journal, for: lane) else { return }
      case .report: await lane.collect()
      case .rest: await rest()
      case .leave: return
      }
    }
  }

  private func next(
    _ hand: Hand, for lane: LaneRunner, now: MillraceClock.Instant, _ expire: @escaping @Sendable (UInt64) -> Void
  ) -> Step {
    let (step, wake) = state.withLock { state -> (Step, Wake?) in
      if state.isOver { return (.leave, nil) }
      if state.isReportDue(at: now) {
        state.isReporting = true
        return (.report, nil)
      }
      guard let job = state.jobs.popFirst() else { return (state.idle.count < Self.mostIdle ? .rest : .leave, nil) }
      state.lastRun += 1
      let number = state.lastRun
      let journal = LaneJournal(lane: lane, job: job.number)
      let limit = limits.begin(number, expire)
      state.runs[number] = Run(job: job, journal: journal, began: clock.wallTime, hand: hand, limit: limit)
      // This run may take long. What is left to do or to tell is somebody else's.
      return (.run(number, job, journal), state.jobs.isEmpty && !state.hasUntold ? nil : Self.wake(&state))
    }
    carryOut(wake, lane)
    return step
  }

  /// - Returns: false where nobody waits for the run any more: its task ends with it.
  private func run(_ number: UInt64, _ job: LaneJob, _ journal: LaneJournal, for lane: LaneRunner) async -> Bool {
    let result: HandlerResult
    switch job {
    case .record(_, let item, _, let isNamed):
      // The lane is gone where the mark cannot be written.
      if isNamed, await !lane.writeMark() { return end(number, nil) }
      result = await handler.run(item, journal: journal)
    case .timer(_, let name, let timer, let isNamed):
      if isNamed, await !lane.writeMark() { return end(number, nil) }
      result = await handler.run(FiredTimer(name, timer), journal: journal)
    }
    return end(number, result)
  }

  private func end(_ number: UInt64, _ result: HandlerResult?) -> Bool {
    let (run, whenEmpty) = state.withLock { state -> (Run?, (@Sendable () -> Void)?) in
      guard let run = state.runs.removeValue(forKey: number) else {
        state.leftBehind.remove(number)
        return (nil, state.takeWhenEmpty())
      }
      if let result { add(LaneEnd(run, result), to: &state) }
      return (run, nil)
    }
    guard let run else {
      metrics.handlerFreed()
      whenEmpty?()
      return false
    }
    limits.end(run.limit)
    return true
  }

  private func add(_ end: LaneEnd, to state: inout State) {
    state.ends.append(end)
    if state.firstEnd == nil { state.firstEnd = clock.now }
  }

  private func rest() async {
    await withUnsafeContinuation { continuation in
      let isNeeded = state.withLock { state in
        if state.isOver || !state.jobs.isEmpty || state.hasUntold { return true }
        state.idle.append(continuation)
        return false
      }
      if isNeeded { continuation.resume() }
    }
    state.withLock { $0.isWaking = false }
  }

  // MARK: - Waking

  /// One at a time is on its way: it wakes the next where there is more to do.
  private static func wake(_ state: inout State) -> Wake? {
    guard !state.isWaking else { return nil }
    state.isWaking = true
    return state.idle.popLast().map { .hand($0) } ?? .newHand
  }

  private func carryOut(_ wake: Wake?, _ lane: LaneRunner) {
    switch wake {
    case .hand(let continuation): continuation.resume()
    case .newHand:
      let hand = Hand()
      hand.own(Task { await self.work(hand, for: lane) })
    case nil: break
    }
  }

  // MARK: - Leaving behind

  private func expire(_ number: UInt64, for lane: LaneRunner) {
    let (run, wake) = state.withLock { state -> (Run?, Wake?) in
      guard let run = state.runs.removeValue(forKey: number) else { return (nil, nil) }
      let result = HandlerResult.failed(
        .retryBySchedule, reason: "handler-timeout", detail: "no outcome within \(DurationText.text(limits.limit))")
      add(LaneEnd(run, result), to: &state)
      return (run, Self.wake(&state))
    }
    guard let run else { return }
    metrics.handlerRan(type: run.job.typeLabel, for: limits.limit)
    leaveBehind(run)
    carryOut(wake, lane)
  }

  private func leaveBehind(_ run: Run) {
    limits.end(run.limit)
    metrics.handlerStuck()
    run.hand.cancel()
  }

  /// A task of the crew, as whoever has to cancel it knows it.
  fileprivate final class Hand: Sendable {
    private struct State {
      var task: Task<Void, Never>?
      var isCancelled = false
    }

    private let state = Mutex(State())

    func own(_ task: Task<Void, Never>) {
      let isCancelled = state.withLock { state in
        state.task = task
        return state.isCancelled
      }
      if isCancelled { task.cancel() }
    }

    func cancel() {
      let task = state.withLock { state in
        state.isCancelled = true
        return state.task
      }
      task?.cancel()
    }
  }
}

extension LaneEnd {
  fileprivate init(_ run: LaneCrew.Run, _ result: HandlerResult) {
    self.init(job: run.job, journal: run.journal, began: run.began, result: result)
  }
}

extension LaneJob {
  /// The run's number among those of the lane.
  fileprivate var number: UInt64 {
    switch self {
    case .record(let number, _, _, _), .timer(let number, _, _, _): number
    }
  }

  fileprivate var typeLabel: String {
    if case .record(_, let item, _, _) = self { item.typeLabel } else { FiredTimer.typeLabel }
  }
}

extension FiredTimer {
  /// The label `type` of metrics.
  static let typeLabel = "timer"

  init(_ name: String, _ timer: LaneTimer) {
    self.init(name: name, at: timer.at, payload: timer.payload, key: String(decoding: timer.key, as: UTF8.self))
  }
}
