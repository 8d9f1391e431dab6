// Runs a team's handler for one record: decode, verify, call, time limit, and what its failure means. Knows no lane.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
internal import Kafka
internal import Logging
internal import Metrics
internal import Tracing

/// What a run came to.
enum HandlerResult: Sendable {
  /// The handler decided.
  case decided(Outcome)
  /// The record is no notification that may be acted on.
  case undecodable(UndecodableRecord)
  /// The handler failed; the reason is a stable code, the detail for a person.
  case failed(FailureDisposition, reason: String, detail: String)
}

/// What a lane calls.
protocol LaneHandling: Sendable {
  func run(_ item: LaneItem, journal: any EffectJournal) async -> HandlerResult
  func run(_ timer: FiredTimer, journal: any EffectJournal) async -> HandlerResult
}

/// A worker behind the lane.
struct LaneHandler<Worker: NotificationWorker>: LaneHandling {
  private let worker: Worker
  private let name: String
  private let decoder: any NotificationDecoding
  private let timeout: Duration
  private let shortestDelay: Duration
  private let tools: HandlerTools
  private let clock: MillraceClock
  private let metrics: WorkerMetrics
  /// Nil where nobody traces. Looked up once: a process sets its tracer up before its workers are made.
  private let tracer: (any Tracer)?

  init(
    _ worker: Worker, name: String, decoder: any NotificationDecoding, policy: WorkerPolicy, tools: HandlerTools,
    metrics: WorkerMetrics, tracer: any Tracer = InstrumentationSystem.tracer
  ) {
    self.worker = worker
    self.name = name
    self.decoder = decoder
    timeout = policy.handlerTimeout
    shortestDelay = policy.schedule.shortest
    self.tools = tools
    clock = tools.clock
    self.metrics = metrics
    self.tracer = tracer is NoOpTracer ? nil : tracer
  }

  func run(_ item: LaneItem, journal: any EffectJournal) async -> HandlerResult {
    guard let tracer else { return await handle(item, journal) }
    return await HandlerSpan.run("\(name) handle", item, by: tracer) { await handle(item, journal) }
  }

  func run(_ timer: FiredTimer, journal: any EffectJournal) async -> HandlerResult {
    let context = context(.timer(timer.name), attempt: 0, isReapplied: false, journal, wait: TurnWait.usual)
    return await HandlerSpan.run("\(name) timer", timer, by: tracer ?? NoOpTracer()) {
      await timed(FiredTimer.typeLabel) { try await worker.timerFired(timer, in: context) }
    }
  }

  private func handle(_ item: LaneItem, _ journal: any EffectJournal) async -> HandlerResult {
    let notification: Notification
    do {
      notification = try await decoder.decode(item.record, envelope: item.envelope, provenance: item.provenance)
    } catch {
      return error.isTemporary
        ? .failed(.retryBySchedule, reason: "verification-unavailable", detail: error.description)
        : .undecodable(error)
    }
    let context = context(
      .notification(id: notification.id, key: notification.key, trace: notification.traceParent),
      attempt: item.attempt, isReapplied: item.isReapplied, journal,
      wait: TurnWait.limit(
        isReturning: item.due != nil, shortestDelay: shortestDelay,
        left: item.deadline.map { $0 - clock.wallTime }))
    return await timed(item.typeLabel) { try await worker.handle(notification, in: context) }
  }

  private func context(
    _ cause: HandlerCause, attempt: Int, isReapplied: Bool, _ journal: any EffectJournal, wait: Duration
  ) -> HandlerContext {
    HandlerContext(
      cause, tools: tools, deadline: clock.wallTime + timeout, attempt: attempt, isReapplied: isReapplied,
      journal: journal, longestWait: wait)
  }

  private func timed(_ type: String, _ body: () async throws -> Outcome) async -> HandlerResult {
    let start = clock.now
    defer {
      // What was left behind was counted when its time was over.
      if !Task.isCancelled { metrics.handlerRan(type: type, for: start.duration(to: clock.now)) }
    }
    do {
      return .decided(try await body())
    } catch {
      let disposition = FailureDisposition.of(error)
      let code = (error as? any ClassifiedFailure)?.code ?? "handler-error"
      let reason = if case .wait = disposition { "waits-for-apple" } else { code }
      return .failed(disposition, reason: reason, detail: "\(error)")
    }
  }
}
