// The worker behind `millrace-worker`: an HTTP endpoint decides, and everything else is the worker SDK's.

internal import AppStore
internal import AppStoreServerAPI
internal import KafkaClient
internal import Logging
internal import MillraceTime
package import MillraceCore
package import MillraceRecords
package import MillraceWorker

/// A worker whose handler is an HTTP endpoint. Each entry under `workers` with a `handler` is a worker of this type.
package struct HTTPWorker: NotificationWorker {
  /// The name of the process in logs. Each worker has the name of its entry.
  package static let name = "worker"
  /// Each worker has the families of its entry.
  package static let families: Set<NotificationFamily> = []

  /// HTTP workers have no settings of their own.
  package static func runs(as name: String) -> Bool { false }

  /// Returns a worker for each entry with a `handler`.
  package static func identities(in configuration: MillraceConfiguration) throws -> [WorkerIdentity] {
    let entries = configuration.workers.filter(\.value.isHTTPWorker).sorted { $0.key < $1.key }
    guard !entries.isEmpty else {
      throw MillraceError(
        .configuration, "no HTTP workers are configured", at: "workers",
        remedy: "add a worker with `families` and `handler: {url: …, secretFile: …}`")
    }
    return entries.map { name, entry in
      WorkerIdentity(
        name: name, families: Set((entry.families ?? []).map(NotificationFamily.init(rawValue:))),
        policy: policy(of: entry))
    }
  }

  /// Returns the default policy of an entry: a run has time for a request, a call to Apple, and a short wait.
  static func policy(of entry: WorkerEntry) -> WorkerPolicy {
    var policy = WorkerPolicy()
    policy.handlerTimeout = entry.handler.effectiveTimeout + WorkerEntry.handlerReserve
    return policy
  }

  private let name: String
  private let topicPrefix: String
  private let policy: WorkerPolicy
  private let endpoints: EndpointSource
  private let gate: CircuitGate
  private let metrics: HTTPWorkerMetrics
  private let clock: MillraceClock

  /// Creates the worker and reads its secrets.
  /// - Throws: ``MillraceError`` that names the file that could not be used.
  package init(_ setup: WorkerSetup) throws {
    let configuration = setup.configuration
    let entry = configuration.workers[setup.name] ?? WorkerEntry()
    name = setup.name
    topicPrefix = configuration.topics.prefix
    policy = configuration.policy(of: setup.name, standard: Self.policy(of: entry))
    clock = setup.clock
    setup.host?.describe(HTTPWorkerMetrics.helpTexts.map { (name: $0.0, help: $0.1) })
    let metrics = HTTPWorkerMetrics(worker: setup.name, factory: setup.metrics)
    self.metrics = metrics
    let logger = setup.logger
    let gate = CircuitGate(clock: setup.clock) { [name] status in
      metrics.isOpen(status.isOpen)
      logger.notice(
        status.isOpen ? "the circuit is open: requests wait" : "the circuit is closed",
        metadata: ["worker": "\(name)", "misconfigured": "\(status.isMisconfigured)"])
    }
    self.gate = gate
    // Connections of its own, so that a slow endpoint delays no other worker.
    let endpoints = try EndpointSource(
      setup.name, configuration, parallelism: policy.parallelism * configuration.topics.lanes,
      exchange: setup.host == nil ? setup.http : nil, logger: setup.logger)
    self.endpoints = endpoints
    setup.host?.whenClosing { await endpoints.close() }
    setup.host?.add(.endpoint(of: setup.name, gate))
  }

  /// Posts the notification, and does what the endpoint decides.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let replay = notification.history.replay
    let origin = StoredEntry.Origin(
      bundleId: notification.bundleId, environment: notification.environment?.rawValue,
      isReplay: replay.map { $0.mode != .requeue } ?? false,
      run: replay.flatMap { $0.mode.reapplies ? $0.id : nil })
    let level = endpoints.current().payload
    let family = family(of: notification)
    guard let member = try NotificationMember.of(notification, family: family, payload: level) else { return .ignore }
    guard let state = try await state(of: notification.key, context) else { return Self.unreadableState }
    let request = HandlerRequest(
      id: WebhookID.of(worker: name, .notification, [notification.id], run: origin.run), kind: .notification,
      worker: name, key: notification.key, attempt: context.attempt + 1, isReplay: origin.isReplay,
      isReapply: origin.run != nil, time: notification.signedDate ?? notification.receivedAt, state: state,
      subject: member)
    let now = clock.wallTime
    switch try await post(request, trace: notification.traceParent?.description, context) {
    case .held(let until): return .wait(until: until, because: Self.circuitOpen)
    case .answered(.outcome(.results(let results))):
      return outcome(of: results, key: notification.key, origin, now: now)
    case .answered(.outcome(.retry(let after, let reason, let detail))):
      return .retry(after: after, because: reason, detail: detail)
    case .answered(.failed(let failure, let detail)): return .retry(because: failure.rawValue, detail: detail)
    case .answered(let answer): return final(answer)
    }
  }

  /// Posts a timer, or makes a call to Apple and posts its result.
  package func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    guard let entry = StoredEntry(bytes: timer.payload) else {
      return .deadLetter("stored-value", "the payload of the timer \(timer.name) is not one of an HTTP worker")
    }
    let subject = try await subject(entry, timer, context)
    guard let state = try await state(of: timer.key, context) else { return Self.unreadableState }
    let request = HandlerRequest(
      id: WebhookID.of(
        worker: name, entry.kind, [timer.key, entry.name, String(entry.at.millisecondsSince1970)],
        run: entry.origin.run),
      kind: entry.kind, worker: name, key: timer.key, attempt: entry.attempts + 1, isReplay: entry.origin.isReplay,
      isReapply: entry.origin.run != nil, time: entry.at, state: state, subject: subject)
    let now = clock.wallTime
    switch try await post(request, trace: nil, context) {
    case .held(let until): return .wait(until: until, because: Self.circuitOpen)
    case .answered(.outcome(.results(let results))):
      return outcome(of: results, key: timer.key, entry.origin, now: now)
    case .answered(.outcome(.retry(let after, let reason, let detail))):
      return again(entry, timer, after: after, reason, detail)
    case .answered(.failed(let failure, let detail)): return again(entry, timer, after: nil, failure.rawValue, detail)
    case .answered(let answer): return keeping(entry, timer, final(answer))
    }
  }
}

// MARK: - Requests

extension HTTPWorker {
  private enum Reply {
    case answered(EndpointAnswer)
    /// The circuit is open until this time.
    case held(until: Timestamp)
  }

  /// The time of a run that is left for everything but the request.
  private static let margin = Duration.milliseconds(250)

  /// Sends a request when the circuit allows it.
  private func post(_ request: HandlerRequest, trace: String?, _ context: HandlerContext) async throws -> Reply {
    var endpoint = endpoints.current()
    // The request has its whole time if it starts before this. The clock of a rehearsal may run faster than real time.
    let spare = context.deadline - clock.wallTime - (endpoint.timeout + Self.margin) * clock.rate
    if let until = try await entered(request.id, until: clock.now.advanced(by: max(.zero, spare))) {
      return .held(until: clock.wallTime + clock.now.duration(to: until))
    }
    endpoint = endpoints.current()
    let left = (context.deadline - clock.wallTime) / clock.rate - Self.margin
    let started = clock.now
    do {
      let reply = try await endpoint.send(
        request, trace: trace, now: clock.realTime, limit: max(Self.margin, min(endpoint.timeout, left)))
      gate.ended(request.id, circuitResult(reply.answer))
      metrics.ended(request.kind, reply, in: started.duration(to: clock.now) / clock.rate)
      return .answered(reply.answer)
    } catch {
      gate.ended(request.id, .abandoned)
      throw error
    }
  }

  private func entered(_ record: String, until latest: MillraceClock.Instant) async throws -> MillraceClock.Instant? {
    guard gate.status.isOpen else { return try await gate.enter(record, until: latest) }
    metrics.beganWaiting()
    defer { metrics.endedWaiting() }
    return try await gate.enter(record, until: latest)
  }

  private func circuitResult(_ answer: EndpointAnswer) -> Circuit.Result {
    switch answer {
    case .outcome, .nothing, .refused, .invalid: .answered
    case .later(let time, _):
      // `Retry-After` is real time.
      .busy(until: clock.now.advanced(by: max(.zero, time - clock.realTime) * clock.rate))
    case .failed: .failed
    case .misconfigured: .misconfigured
    }
  }

  private func family(of notification: AppStoreNotification) -> String {
    let topic = notification.history.first.topic.dropFirst(topicPrefix.count)
    let prefix = "appstore.notifications."
    return topic.hasPrefix(prefix) ? String(topic.dropFirst(prefix.count)) : String(topic)
  }

  private func subject(_ entry: StoredEntry, _ timer: FiredTimer, _ context: HandlerContext) async throws -> JSONObject
  {
    switch entry.content {
    case .timer(let payload):
      return ["name": .string(entry.name), "at": .string(entry.at.rfc3339), "payload": payload ?? .null]
    case .call(let operation, let arguments):
      let result = try await AppleCall(operation, arguments, origin: entry.origin).result(timer.name, in: context)
      return [
        "name": .string(entry.name), "operation": .string(operation.rawValue), "arguments": .object(arguments),
        "result": result,
      ]
    }
  }

  /// Returns the stored state of a key, null if there is none; nil if it is not JSON.
  private func state(of key: String, _ context: HandlerContext) async throws -> JSON? {
    guard let bytes = try await context.state(key) else { return .null }
    do { return try JSON(parsing: bytes) } catch { return nil }
  }
}

// MARK: - Outcomes

extension HTTPWorker {
  private static let circuitOpen = "circuit-open"
  private static let unreadableState = Outcome.deadLetter(
    "stored-value", "the stored state of the key is not JSON; another version of the worker wrote it")

  /// How long a record waits after an answer that means a misconfigured endpoint.
  static let misconfigurationPause = Duration.seconds(60)

  /// Returns what the worker does after an answer that counts no attempt.
  private func final(_ answer: EndpointAnswer) -> Outcome {
    switch answer {
    case .outcome(.deadLetter(let reason, let detail)): .deadLetter(reason, detail)
    case .refused(let status, let detail): .deadLetter("endpoint-refused", "\(status): \(detail)")
    case .invalid(let detail): .deadLetter("invalid-outcome", detail)
    case .later(let time, _):
      .wait(until: clock.wallTime + max(.zero, time - clock.realTime) * clock.rate, because: "endpoint-busy")
    case .misconfigured:
      .wait(until: clock.wallTime + Self.misconfigurationPause, because: "endpoint-misconfigured")
    case .nothing: .ignore
    case .outcome(.results), .outcome(.retry), .failed: .ignore
    }
  }

  /// Returns the outcome of results. Events, state, timers and calls are committed in one transaction.
  private func outcome(
    of results: HandlerOutcome.Results, key: String, _ origin: StoredEntry.Origin, now: Timestamp
  ) -> Outcome {
    var done = Outcome.Results()
    done.events = results.events
    switch results.state {
    case .unchanged: break
    case .removed: done = done.keeping(key, nil)
    case .set(let state): done = done.keeping(key, state.serialized())
    }
    var outcome = Outcome.done(done)
    for timer in results.timers {
      let name = StoredEntry.timerName(timer.name, key: key)
      guard let at = timer.at else {
        outcome = outcome.cancellingTimer(name)
        continue
      }
      let entry = StoredEntry(name: timer.name, at: at, content: .timer(payload: timer.payload), origin: origin)
      outcome = outcome.settingTimer(name, at: at, payload: entry.bytes)
    }
    for call in results.calls {
      let entry = StoredEntry(
        name: call.name, at: now, content: .call(call.operation, arguments: call.arguments), origin: origin)
      outcome = outcome.settingTimer(entry.timerName(key: key), at: now, payload: entry.bytes)
    }
    return outcome
  }

  /// Sets a timer again after a failed attempt, or gives up after the last one.
  private func again(
    _ entry: StoredEntry, _ timer: FiredTimer, after delay: Duration?, _ reason: String, _ detail: String
  ) -> Outcome {
    var next = entry
    next.attempts += 1
    guard next.attempts < policy.maximumAttempts else {
      return keeping(
        entry, timer,
        .deadLetter("attempts-exhausted", "tried \(next.attempts) times; last: \(reason): \(detail)"))
    }
    let delays = policy.usableRetryDelays
    let wanted = max(delay ?? delays[min(next.attempts, delays.count) - 1], delays.first ?? .zero)
    return .ignore.settingTimer(timer.name, at: clock.wallTime + wanted, payload: next.bytes)
  }

  /// Returns an outcome whose dead letter holds the timer without its attempts, so that a requeue begins anew.
  private func keeping(_ entry: StoredEntry, _ timer: FiredTimer, _ outcome: Outcome) -> Outcome {
    guard case .deadLetter = outcome.decision else { return outcome }
    var fresh = entry
    fresh.attempts = 0
    return outcome.settingTimer(timer.name, at: entry.at, payload: fresh.bytes)
  }
}
