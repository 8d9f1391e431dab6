// Runs a team's handler for one record: decode, verify, call, time limit, and what its failure means. Knows no lane.

internal import AppStore
internal import AppStoreServerAPI
internal import Clocks
internal import Kafka
internal import Logging
internal import Metrics

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
  let worker: Worker
  let name: String
  let decoder: any NotificationDecoding
  let policy: WorkerPolicy
  let shortestDelay: Duration
  let clients: AppStoreClients
  let ledgers: WorkerLedgers
  let clock: MillraceClock
  let metrics: WorkerMetrics
  let logger: Logger

  func run(_ item: LaneItem, journal: any EffectJournal) async -> HandlerResult {
    await HandlerSpan.run("\(name) handle", item) { await handle(item, journal) }
  }

  func run(_ timer: FiredTimer, journal: any EffectJournal) async -> HandlerResult {
    let context = context(attempt: 0, isReapplied: false, journal, wait: TurnWait.usual) { [logger] in
      var logger = logger
      logger[metadataKey: "timer"] = "\(timer.name)"
      return logger
    }
    return await HandlerSpan.run("\(name) timer", timer) {
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
      attempt: item.attempt, isReapplied: item.isReapplied, journal,
      wait: TurnWait.limit(
        isReturning: item.due != nil, shortestDelay: shortestDelay,
        left: item.deadline.map { $0 - clock.wallTime })
    ) { [logger] in
      var logger = logger
      logger[metadataKey: "notification"] = "\(notification.id)"
      logger[metadataKey: "key"] = "\(notification.key)"
      if let trace = notification.traceParent { logger[metadataKey: "trace"] = "\(Hex.text(trace.traceID))" }
      return logger
    }
    return await timed(item.typeLabel) { try await worker.handle(notification, in: context) }
  }

  private func context(
    attempt: Int, isReapplied: Bool, _ journal: any EffectJournal, wait: Duration,
    logger: @escaping @Sendable () -> Logger
  ) -> HandlerContext {
    HandlerContext(
      clock: clock, makeLogger: logger, deadline: clock.wallTime + policy.handlerTimeout, attempt: attempt,
      isReapplied: isReapplied, journal: journal, clients: clients, ledgers: ledgers,
      patience: TurnPatience(atMost: wait) {
        await journal.beginWaiting()
      } end: {
        await journal.endWaiting()
      })
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
