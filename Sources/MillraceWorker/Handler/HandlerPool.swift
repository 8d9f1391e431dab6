// A pool of tasks that run a lane's handlers. A new task and a hop to the lane's actor for each record would cost
// several times as much as a small handler.

internal import AppStore
internal import DequeModule
internal import MillraceTime
internal import KafkaClient
internal import Synchronization

/// Runs the handlers of a lane.
///
/// A task runs one job after another. It reports several results to the lane at once: when no job is left, or a
/// millisecond after the first result. When a task takes a job and more jobs are left, it wakes another task. A handler
/// that waits therefore delays no other, and handlers that do not wait need only one task. The lane limits the number
/// of running handlers by the number of jobs that it submits.
///
/// If a handler exceeds its time limit or its lane ends, the pool cancels and abandons it together with its task. Its
/// outcome is ignored.
final class HandlerPool: Sendable {
  /// A job that a task of the pool has taken.
  struct Run: Sendable {
    fileprivate var number: UInt64
    var job: LaneJob
    var recorder: LaneEffectRecorder
    var began: Timestamp
    fileprivate var task: WorkerTask
    /// The number of the run's time limit; nil while the crash mark is being written.
    fileprivate var timeLimit: UInt64?
  }

  /// A run that is over, and its result.
  typealias End = (run: Run, result: HandlerResult)

  private struct State {
    var jobs = Deque<LaneJob>()
    var runs: [UInt64: Run] = [:]
    var lastRun: UInt64 = 0
    var ends: [End] = []
    var firstEnd: MillraceClock.Instant?
    var isReporting = false
    var idle: [UnsafeContinuation<Void, Never>] = []
    var isWaking = false
    var isOver = false
    /// Runs that were abandoned when the pool was stopped.
    var abandoned: Set<UInt64> = []
    var whenEmpty: (@Sendable () -> Void)?

    /// Whether there are results that no task is reporting to the lane.
    var hasUnreportedResults: Bool { firstEnd != nil && !isReporting }

    /// Whether a task has to report the results to the lane now.
    func isReportDue(at now: MillraceClock.Instant) -> Bool {
      guard let firstEnd, hasUnreportedResults else { return false }
      return jobs.isEmpty || firstEnd.duration(to: now) >= HandlerPool.slice
    }

    /// Removes and returns the callback, if the pool was stopped and no abandoned handler is left.
    mutating func takeWhenEmpty() -> (@Sendable () -> Void)? {
      guard isOver, abandoned.isEmpty else { return nil }
      defer { whenEmpty = nil }
      return whenEmpty
    }
  }

  private enum Step {
    case run(Run)
    case report
    case rest
    case leave
  }

  private enum Wake {
    case task(UnsafeContinuation<Void, Never>)
    case newTask
  }

  /// How long a task runs before it yields its thread, and how long a result waits for others before it is reported.
  private static let slice = Duration.milliseconds(1)
  /// The maximum number of idle tasks that wait for a job.
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

  /// Adds jobs, which start in this order.
  /// - Parameter isOwnCall: Whether a task of the pool makes the call. That task then runs the first job itself.
  func submit(_ jobs: [LaneJob], to lane: LaneRunner, isOwnCall: Bool = false) {
    guard !jobs.isEmpty else { return }
    let wake = state.withLock { state -> Wake? in
      guard !state.isOver else { return nil }
      state.jobs.append(contentsOf: jobs)
      return isOwnCall ? nil : Self.wake(&state)
    }
    carryOut(wake, lane)
  }

  /// Removes and returns the results that were not reported to the lane yet.
  func takeEnds() -> [End] {
    state.withLock { state in
      defer {
        state.ends.removeAll(keepingCapacity: true)
        state.firstEnd = nil
        state.isReporting = false
      }
      return state.ends
    }
  }

  /// Starts no more jobs, and cancels and abandons the running handlers.
  func stop() {
    let (runs, idle) = state.withLock { state in
      state.isOver = true
      state.jobs = Deque()
      state.abandoned.formUnion(state.runs.keys)
      defer {
        state.runs = [:]
        state.idle = []
      }
      return (Array(state.runs.values), state.idle)
    }
    for run in runs { abandon(run) }
    for task in idle { task.resume() }
  }

  /// Calls `action` after the pool was stopped and all handlers that were abandoned then have returned. It does not
  /// wait for handlers that timed out earlier, because the outcome of their records is already decided.
  func whenEmpty(_ action: @escaping @Sendable () -> Void) {
    let action = state.withLock { state in
      state.whenEmpty = action
      return state.takeWhenEmpty()
    }
    action?()
  }

  // MARK: - One task

  private func work(_ task: WorkerTask, for lane: LaneRunner) async {
    state.withLock { $0.isWaking = false }
    let expire: @Sendable (UInt64) -> Void = { self.expire($0, for: lane) }
    var sliceEnd = clock.now.advanced(by: Self.slice)
    while true {
      let now = clock.now
      if now >= sliceEnd {
        await Task.yield()
        sliceEnd = clock.now.advanced(by: Self.slice)
      }
      switch next(task, for: lane, now: now, expire) {
      case .run(let run): guard await perform(run, for: lane, expire) else { return }
      case .report: await lane.collect()
      case .rest: await rest()
      case .leave: return
      }
    }
  }

  private func next(
    _ task: WorkerTask, for lane: LaneRunner, now: MillraceClock.Instant, _ expire: @escaping @Sendable (UInt64) -> Void
  ) -> Step {
    let (step, wake) = state.withLock { state -> (Step, Wake?) in
      if state.isOver { return (.leave, nil) }
      if state.isReportDue(at: now) {
        state.isReporting = true
        return (.report, nil)
      }
      guard let job = state.jobs.popFirst() else { return (state.idle.count < Self.mostIdle ? .rest : .leave, nil) }
      state.lastRun += 1
      let run = Run(
        number: state.lastRun, job: job, recorder: LaneEffectRecorder(lane: lane, jobNumber: job.number),
        began: clock.wallTime, task: task, timeLimit: job.needsCrashMark ? nil : limits.begin(state.lastRun, expire))
      state.runs[run.number] = run
      // This run may take long, so another task has to take the remaining jobs and report the results.
      return (.run(run), state.jobs.isEmpty && !state.hasUnreportedResults ? nil : Self.wake(&state))
    }
    carryOut(wake, lane)
    return step
  }

  /// - Returns: False if the run was abandoned. Its task then ends.
  private func perform(
    _ run: Run, for lane: LaneRunner, _ expire: @escaping @Sendable (UInt64) -> Void
  ) async -> Bool {
    // If the crash mark cannot be written, the lane is gone. The run may also be abandoned before the mark is written.
    if run.job.needsCrashMark {
      guard await lane.writeMark(), begin(run.number, expire) else { return end(run.number, nil) }
    }
    switch run.job.input {
    case .record(let item): return end(run.number, await handler.run(item, recorder: run.recorder))
    case .timer(let timer): return end(run.number, await handler.run(FiredTimer(timer), recorder: run.recorder))
    }
  }

  /// Starts the time limit of a run whose crash mark is written, so that waiting for Kafka takes none of its time.
  /// - Returns: False if the run was abandoned.
  private func begin(_ number: UInt64, _ expire: @escaping @Sendable (UInt64) -> Void) -> Bool {
    state.withLock { state in
      guard state.runs[number] != nil else { return false }
      state.runs[number]?.began = clock.wallTime
      state.runs[number]?.timeLimit = limits.begin(number, expire)
      return true
    }
  }

  private func end(_ number: UInt64, _ result: HandlerResult?) -> Bool {
    let (run, whenEmpty) = state.withLock { state -> (Run?, (@Sendable () -> Void)?) in
      guard let run = state.runs.removeValue(forKey: number) else {
        state.abandoned.remove(number)
        return (nil, state.takeWhenEmpty())
      }
      if let result { add((run, result), to: &state) }
      return (run, nil)
    }
    guard let run else {
      metrics.handlerFreed()
      whenEmpty?()
      return false
    }
    if let limit = run.timeLimit { limits.end(limit) }
    return true
  }

  private func add(_ end: End, to state: inout State) {
    state.ends.append(end)
    if state.firstEnd == nil { state.firstEnd = clock.now }
  }

  private func rest() async {
    await withUnsafeContinuation { continuation in
      let isNeeded = state.withLock { state in
        if state.isOver || !state.jobs.isEmpty || state.hasUnreportedResults { return true }
        state.idle.append(continuation)
        return false
      }
      if isNeeded { continuation.resume() }
    }
    state.withLock { $0.isWaking = false }
  }

  // MARK: - Waking

  /// Wakes one task, unless another one is still waking up: that one wakes the next if there is more to do.
  private static func wake(_ state: inout State) -> Wake? {
    guard !state.isWaking else { return nil }
    state.isWaking = true
    return state.idle.popLast().map { .task($0) } ?? .newTask
  }

  private func carryOut(_ wake: Wake?, _ lane: LaneRunner) {
    switch wake {
    case .task(let continuation): continuation.resume()
    case .newTask:
      let task = WorkerTask()
      task.own(Task { await self.work(task, for: lane) })
    case nil: break
    }
  }

  // MARK: - Abandoning runs

  private func expire(_ number: UInt64, for lane: LaneRunner) {
    let (run, wake) = state.withLock { state -> (Run?, Wake?) in
      guard let run = state.runs.removeValue(forKey: number) else { return (nil, nil) }
      let result = HandlerResult.failed(
        .retryBySchedule, reason: "handler-timeout", detail: "no outcome within \(DurationText.text(limits.limit))")
      add((run, result), to: &state)
      return (run, Self.wake(&state))
    }
    guard let run else { return }
    metrics.handlerRan(type: run.job.typeLabel, for: limits.limit)
    abandon(run)
    carryOut(wake, lane)
  }

  private func abandon(_ run: Run) {
    if let limit = run.timeLimit { limits.end(limit) }
    metrics.handlerStuck()
    run.task.cancel()
  }

  /// A task of the pool, which can be cancelled even before it is set.
  fileprivate final class WorkerTask: Sendable {
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
