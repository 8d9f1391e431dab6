// Runs a worker's handler for one record or timer: decodes and verifies the record, calls the handler, and classifies
// its failure. It is independent of lanes.

internal import AppStore
internal import AppStoreServerAPI
internal import MillraceTime
internal import KafkaClient
internal import Logging
internal import Metrics
internal import Tracing
internal import MillraceCore

/// The result of a handler run.
enum HandlerResult: Sendable {
  /// The handler returned an outcome.
  case decided(Outcome)
  /// The record does not contain a valid notification.
  case undecodable(UndecodableRecord)
  /// The handler failed. The reason is a stable code, and the detail is for people.
  case failed(FailureDisposition, reason: String, detail: String, answer: CallAnswer? = nil)

  /// The answer of the call that failed, if a call was the cause.
  var answer: CallAnswer? {
    switch self {
    case .decided(let outcome): outcome.answer
    case .failed(_, _, _, let answer): answer
    case .undecodable: nil
    }
  }

  /// The time at which the handler has to run again, if it waits and has not failed.
  var turn: Timestamp? {
    switch self {
    case .failed(.wait(let turn), _, _, _): turn
    case .decided(let outcome): if case .wait(let turn, _) = outcome.decision { turn } else { nil }
    default: nil
    }
  }

  /// The failure of a timer, if the result is one. It contains no records, states or payloads of the outcome.
  func timerFailure(at now: Timestamp) -> TimerFailure {
    switch self {
    case .decided(let outcome):
      guard case .retry(let delay, let reason, let detail) = outcome.decision else {
        return TimerFailure(
          "outcome-unwritable", "the outcome is too large, or has an event or a counter with a reserved name")
      }
      return TimerFailure(reason, detail, after: delay)
    case .undecodable(let error): return TimerFailure(error.reason.rawValue, error.description)
    case .failed(.retryAt(let time), let reason, let detail, _):
      return TimerFailure(reason, detail, after: max(.zero, time - now))
    // A newer version may be able to do what this one cannot, so every failure of a timer is retried.
    case .failed(_, let reason, let detail, _): return TimerFailure(reason, detail)
    }
  }
}

/// The reason why the handler of a timer has to run again.
struct TimerFailure: Sendable, Hashable {
  /// A stable code, which is a label of metrics.
  var reason: String
  /// A description for people.
  var detail: String
  /// The delay that the handler asks for; nil means the next delay of the schedule.
  var delay: Duration?

  init(_ reason: String, _ detail: String, after delay: Duration? = nil) {
    self.reason = reason
    self.detail = String(detail.prefix(300))
    self.delay = delay
  }
}

/// The interface that lanes use to run handlers.
protocol LaneHandling: Sendable {
  func run(_ item: LaneItem, recorder: any EffectRecorder) async -> HandlerResult
  func run(_ timer: FiredTimer, recorder: any EffectRecorder) async -> HandlerResult
}

/// Runs the handlers of a worker.
struct LaneHandler<Worker: NotificationWorker>: LaneHandling {
  private let worker: Worker
  /// The worker, if it reads events.
  private let events: (any EventWorker)?
  private let name: String
  private let decoder: any NotificationDecoding
  private let timeout: Duration
  private let shortestDelay: Duration
  private let tools: HandlerTools
  private let clock: MillraceClock
  private let metrics: WorkerMetrics
  /// Nil if tracing is off. Read once, because a process sets up its tracer before it creates its workers.
  private let tracer: (any Tracer)?

  init(
    _ worker: Worker, name: String, decoder: any NotificationDecoding, policy: WorkerPolicy, tools: HandlerTools,
    metrics: WorkerMetrics, tracer: any Tracer = InstrumentationSystem.tracer
  ) {
    self.worker = worker
    events = worker as? any EventWorker
    self.name = name
    self.decoder = decoder
    timeout = policy.handlerTimeout
    shortestDelay = policy.schedule.shortest
    self.tools = tools
    clock = tools.clock
    self.metrics = metrics
    self.tracer = tracer is NoOpTracer ? nil : tracer
  }

  func run(_ item: LaneItem, recorder: any EffectRecorder) async -> HandlerResult {
    guard let tracer else { return await handle(item, recorder) }
    return await HandlerSpan.run("\(name) handle", item, by: tracer) { await handle(item, recorder) }
  }

  func run(_ timer: FiredTimer, recorder: any EffectRecorder) async -> HandlerResult {
    let context = context(
      .timer(timer.name), attempt: timer.attempt, isReapplied: false, recorder, wait: RateLimitWaitLimit.usual)
    return await HandlerSpan.run("\(name) timer", timer, by: tracer ?? NoOpTracer()) {
      await timed(FiredTimer.typeLabel) { try await worker.timerFired(timer, in: context) }
    }
  }

  private func handle(_ item: LaneItem, _ recorder: any EffectRecorder) async -> HandlerResult {
    if let events { return await handle(item, recorder, by: events) }
    let notification: AppStoreNotification
    do {
      notification = try await decoder.decode(item.record, envelope: item.envelope, history: item.history)
    } catch {
      return error.isTemporary
        ? .failed(.retryBySchedule, reason: "verification-unavailable", detail: error.description)
        : .undecodable(error)
    }
    let context = context(
      .notification(id: notification.id, key: notification.key, trace: notification.traceParent), of: item, recorder)
    return await timed(item.typeLabel) { try await worker.handle(notification, in: context) }
  }

  private func handle(
    _ item: LaneItem, _ recorder: any EffectRecorder, by worker: any EventWorker
  ) async -> HandlerResult {
    let event: PublishedEvent
    do {
      event = try PublishedEvent(item.record, from: item.history.first.topic)
    } catch {
      return .undecodable(error)
    }
    let context = context(
      .notification(id: event.id, key: event.key, trace: event.traceParent), of: item, recorder)
    return await timed(item.typeLabel) { try await worker.handle(event, in: context) }
  }

  private func context(
    _ cause: HandlerCause, of item: LaneItem, _ recorder: any EffectRecorder
  ) -> HandlerContext {
    context(
      cause, attempt: item.attempt, isReapplied: item.isReapplied, recorder,
      wait: RateLimitWaitLimit.limit(
        isReturning: item.due != nil, shortestDelay: shortestDelay,
        left: item.deadline.map { $0 - clock.wallTime }))
  }

  private func context(
    _ cause: HandlerCause, attempt: Int, isReapplied: Bool, _ recorder: any EffectRecorder, wait: Duration
  ) -> HandlerContext {
    HandlerContext(
      cause, tools: tools, deadline: clock.wallTime + timeout, attempt: attempt, isReapplied: isReapplied,
      recorder: recorder, longestWait: wait)
  }

  private func timed(_ type: String, _ body: () async throws -> Outcome) async -> HandlerResult {
    let start = clock.now
    defer {
      // An abandoned run was counted when it timed out.
      if !Task.isCancelled { metrics.handlerRan(type: type, for: start.duration(to: clock.now)) }
    }
    do {
      return .decided(try await body())
    } catch {
      let disposition = FailureDisposition.of(error)
      let reason = if case .wait = disposition { "waits-for-apple" } else { "handler-error" }
      let answer = (error as? APIError).map { CallAnswer($0) }
      return .failed(disposition, reason: reason, detail: "\(error)", answer: answer)
    }
  }
}
