// Posts the events of other workers to URLs as Standard Webhooks, in order for each key. The worker runtime provides
// retries, ordering, deduplication, dead letters and replay, as for `millrace-forward`.

internal import AppStore
internal import AppStoreServerAPI
internal import Logging
internal import MillraceTime
package import MillraceCore
internal import MillraceRecords
package import MillraceWorker

/// The worker of a webhook, `webhook-<name>`. `millrace-worker` runs one for each entry under `webhooks`.
package struct WebhookWorker: EventWorker {
  /// The worker's name without the webhook's. Each webhook's worker has its own name.
  package static let name = "webhook"

  /// The settings of one webhook.
  package typealias Settings = WebhookSettings

  /// Whether a worker of this name posts events: `webhook-<name>`.
  package static func runs(as name: String) -> Bool { name.hasPrefix(WorkerEntry.webhookPrefix) }

  /// The names of the workers that publish events, sorted.
  package static func publishers(in configuration: MillraceConfiguration) -> [String] {
    configuration.workerNames.filter { !runs(as: $0) && !$0.hasPrefix("forward-") }
  }

  /// Returns one worker for each webhook, so that a failing receiver does not delay others.
  package static func identities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity] {
    try configuration.workerNames.filter(runs(as:)).map { name in
      let settings: WebhookSettings = try configuration.settings(of: name)
      let workers = settings.workers.isEmpty ? publishers(in: configuration) : settings.workers
      var identity = WorkerIdentity(name: name, families: [], policy: policy(of: settings))
      identity.eventTopics = Set(workers.map { PublishedEvent.topicPrefix + $0 })
      return identity
    }
  }

  /// The default policy of a webhook with default settings.
  package static var policy: WorkerPolicy { policy(of: WebhookSettings()) }

  /// Returns the default policy of a webhook: as for a receiver of `millrace-forward`, with time to wait for the circuit.
  static func policy(of settings: WebhookSettings) -> WorkerPolicy {
    var policy = WorkerPolicy()
    policy.ordering = .strict
    policy.parallelism = 2
    policy.handlerTimeout = settings.timeout + WorkerEntry.handlerReserve
    policy.maximumAttempts = 32
    return policy
  }

  private let name: String
  private let settings: WebhookSettings
  private let endpoint: GuardedEndpoint
  private let pause: WorkerPause
  private let clock: MillraceClock

  /// Creates the worker and reads its secrets.
  /// - Throws: ``MillraceError`` that names the file that could not be used.
  package init(_ setup: WorkerSetup) throws {
    let configuration = setup.configuration
    let settings: WebhookSettings = try setup.settings()
    let policy = configuration.policy(of: setup.name, standard: Self.policy(of: settings))
    name = setup.name
    self.settings = settings
    clock = setup.clock
    pause = try WorkerPause(setup)
    endpoint = try GuardedEndpoint(setup, policy, waiting: "events")
  }

  /// Posts the event and decides by the receiver's response.
  package func handle(_ event: PublishedEvent, in context: HandlerContext) async throws -> Outcome {
    guard settings.takes(event) else { return .ignore }
    if let outcome = try await wait(for: event, until: endpoint.latestStart(in: context)) { return outcome }
    let (reply, took) = try await endpoint.send(event.id, in: context) { endpoint, now, limit in
      try await endpoint.post(event, now: now, limit: limit)
    } result: {
      (circuitResult($0), $0.cause)
    }
    endpoint.metrics.ended(reply, in: took)
    if case .answered(_, status: 410, _) = reply {
      return .wait(until: clock.wallTime + Self.goneInterval, because: "gone").after(reply.facts)
    }
    return reply.outcome(attempt: context.attempt + 1, refusedAttempts: settings.refusedAttempts)
  }

  /// How long an event waits that the receiver answered with 410, or whose webhook is paused.
  static let goneInterval = Duration.seconds(60)

  /// Waits until the event may be posted.
  /// - Returns: Nil if it may be posted. Otherwise the outcome that makes it wait in a retry topic.
  private func wait(for event: PublishedEvent, until latest: MillraceClock.Instant) async throws -> Outcome? {
    while try await pause.isPaused() {
      guard clock.now < latest else { return .wait(until: clock.wallTime + Self.goneInterval, because: "paused") }
      try await clock.sleep(until: min(latest, clock.now.advanced(by: WorkerPause.interval * clock.rate)))
    }
    return try await endpoint.enter(event.id, until: latest).map { .wait(until: $0, because: "circuit-open") }
  }

  private func circuitResult(_ reply: ReceiverReply) -> Circuit.Result {
    switch reply {
    case .answered(_, status: 410, _): .misconfigured
    case .answered(.taken, _, _), .answered(.refused, _, _): .answered
    case .answered(.later("busy", let delay), _, _):
      // `Retry-After` is real time.
      .busy(until: clock.now.advanced(by: (delay ?? .zero) * clock.rate))
    case .answered(.later, _, _), .failed: .failed
    }
  }
}
