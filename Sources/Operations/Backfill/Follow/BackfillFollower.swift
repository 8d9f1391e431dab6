// Implements `millrace backfill --follow`: writes notifications that Apple failed to deliver to Kafka within minutes,
// whether or not Apple retries them.

internal import AppStore
internal import AppStoreServerAPI
internal import AppStoreSignature
internal import MillraceTime
internal import KafkaClient
package import Logging
package import MillraceCore
internal import MillraceWorker
internal import ServiceLifecycle
internal import Synchronization

/// Polls Apple's histories for failed deliveries until the process shuts down.
package final class BackfillFollower: Service {
  /// The status of one history.
  struct Status: Sendable, Hashable {
    /// All notifications before this time were requested.
    var through: Timestamp?
    /// Whether a pass is running, or the first pass is about to start.
    var isAsking = true
    /// The error of the last pass; nil if it succeeded.
    var problem: String?
    /// Whether the operator has to fix the problem.
    var isOurs = false
  }

  private let parts: BackfillOperation.Parts
  private let targets: [BackfillTarget]
  private let settings: FollowSettings
  private let metrics: FollowMetrics
  private let logger: Logger
  private let statuses: Mutex<[BackfillTarget: Status]>

  /// Creates a follower of the given histories.
  package init(
    _ parts: BackfillOperation.Parts, _ targets: [BackfillTarget], _ settings: FollowSettings, metrics: FollowMetrics,
    logger: Logger
  ) {
    self.parts = parts
    self.targets = targets
    self.settings = settings
    self.metrics = metrics
    self.logger = logger
    statuses = Mutex(Dictionary(targets.map { ($0, Status()) }) { first, _ in first })
  }

  /// Runs until the process shuts down. The next process repeats an unfinished pass.
  package func run() async throws {
    do {
      try await cancelWhenGracefulShutdown { try await self.follow() }
    } catch is CancellationError {
      return
    }
  }

  func follow() async throws {
    let quarantine = try await parts.requireTopics()
    let channel = parts.pauses
    try await parts.log.log.withWriter { [self] writer in
      let publisher = HistoryPublisher(
        admission: parts.admission, router: parts.catalog.router, erased: parts.erased, quarantine: quarantine,
        writer: writer,
        clock: parts.clock)
      try await withThrowingTaskGroup(of: Void.self) { group in
        if let channel { group.addTask { try await channel.run() } }
        for target in targets {
          group.addTask { try await self.follow(target, publisher) }
        }
        try await group.waitForAll()
      }
    }
  }

  private func follow(_ target: BackfillTarget, _ publisher: HistoryPublisher) async throws {
    var seen = SeenItems()
    while true {
      note(target) { $0.isAsking = true }
      do {
        try await pass(target, &seen, publisher)
        note(target) { status in
          status.isAsking = false
          status.problem = nil
          status.isOurs = false
        }
        metrics.pass(target, isDone: true)
      } catch is CancellationError {
        throw CancellationError()
      } catch {
        try Task.checkCancellation()
        metrics.pass(target, isDone: false)
        note(target) { status in
          status.isAsking = false
          status.problem = FailureReport(error).lines.first ?? "\(error)"
          status.isOurs = FailureReport(error).status == .configuration
        }
        logger.error(
          "could not read a history to its end; the next pass continues from there",
          metadata: ["history": "\(target)", "error": "\(error)"])
      }
      try await parts.clock.sleep(until: parts.clock.now.advanced(by: settings.interval))
    }
  }

  /// Requests new notifications, and earlier ones whose delivery may have failed since.
  func pass(_ target: BackfillTarget, _ seen: inout SeenItems, _ publisher: HistoryPublisher) async throws {
    guard let client = parts.clients[target.bundleId] else { return }
    let reader = HistoryReader(client: client, clock: parts.clock, patience: parts.patience)
    let now = parts.clock.wallTime
    var mark = try await parts.log.current().follow(target)
    let plan = FollowPlan(target.environment, after: mark, now: now, settings)
    for span in plan.spans {
      try await bring(span, of: target, reader, &seen, publisher)
      let next = plan.mark(after: span, mark, startedAt: now)
      _ = try await publisher.writer.send(BackfillRecord.follow(target, next).record(prefix: parts.log.prefix))
      mark = next
      note(target) { $0.through = next.through }
    }
  }

  private func bring(
    _ span: Range<Timestamp>, of target: BackfillTarget, _ reader: HistoryReader, _ seen: inout SeenItems,
    _ publisher: HistoryPublisher
  ) async throws {
    var request = NotificationHistoryRequest(
      startDate: span.lowerBound, endDate: span.upperBound + BackfillSlice.overlap)
    request.onlyFailures = true
    var token: String?
    var restarts = 0
    while true {
      switch try await reader.page(of: request, after: token, in: target.environment) {
      case .page(let page):
        let news = page.items.filter { !seen.contains($0) }
        let outcome = try await publisher.publish(news)
        for item in news { seen.insert(item) }
        metrics.count(outcome, of: target)
        report(outcome, of: target)
        guard page.hasMore else { return }
        token = page.paginationToken
      case .beginAnew:
        restarts += 1
        guard restarts <= BackfillOperation.maximumRestarts else {
          throw OperationError(
            .failed, "Apple rejected its own page tokens", at: "\(target)", remedy: "wait: the next pass retries")
        }
        token = nil
      case .nothingThere, .outOfReach: return
      }
    }
  }

  private func report(_ outcome: HistoryPublisher.Outcome, of target: BackfillTarget) {
    if outcome.publishedCount > 0 {
      logger.notice(
        "published notifications that Apple failed to deliver",
        metadata: ["history": "\(target)", "count": "\(outcome.publishedCount)"])
    }
    if outcome.quarantinedCount > 0 {
      logger.warning(
        "quarantined history items that failed verification",
        metadata: ["history": "\(target)", "count": "\(outcome.quarantinedCount)"])
    }
  }

  private func note(_ target: BackfillTarget, _ change: (inout Status) -> Void) {
    statuses.withLock { change(&$0[target, default: Status()]) }
  }

  // MARK: - For probes and metrics

  /// The status of each history.
  var state: [BackfillTarget: Status] { statuses.withLock { $0 } }

  /// The metric for the age of the mark up to which each history has been read.
  package var collectors: [MetricCollector] {
    let (name, help) = FollowMetrics.helpTexts[3]
    return [
      MetricCollector(name, .gauge, help: help) { [weak self] in
        guard let self else { return [] }
        let now = self.parts.clock.wallTime
        return self.state.compactMap { target, status in
          status.through.map { .init((now - $0) / .seconds(1), labels: target.labels) }
        }
      }
    ]
  }

  /// Unhealthy if the operator has to fix a problem with a history. Failures at Apple do not count.
  package var readiness: ReadinessCheck {
    ReadinessCheck("histories", remedy: "run millrace doctor") { [weak self] in
      let ours = (self?.state ?? [:]).filter(\.value.isOurs).min { "\($0.key)" < "\($1.key)" }
      guard let ours else { return .healthy("followed") }
      return .unhealthy("\(ours.key): \(ours.value.problem ?? "")", remedy: "run millrace doctor")
    }
  }
}
