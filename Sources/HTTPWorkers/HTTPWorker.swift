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
    guard !entries.isEmpty || configuration.workerNames.contains(where: WebhookWorker.runs(as:)) else {
      throw MillraceError(
        .configuration, "neither HTTP workers nor webhooks are configured", at: "workers",
        remedy: "add a worker with `families` and `handler: {url: …, secretFile: …}`, or a webhook under `webhooks`")
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
  private let endpoint: GuardedEndpoint
  private let clock: MillraceClock

  /// Creates the worker and reads its secrets.
  /// - Throws: ``MillraceError`` that names the file that could not be used.
  package init(_ setup: WorkerSetup) throws {
    let configuration = setup.configuration
    let entry = configuration.workers[setup.name] ?? WorkerEntry()
    name = setup.name
    topicPrefix = configuration.topics.prefix
    let policy = configuration.policy(of: setup.name, standard: Self.policy(of: entry))
    clock = setup.clock
    endpoint = try GuardedEndpoint(setup, policy, waiting: "requests")
  }

  /// Posts the notification, and does what the endpoint decides.
  package func handle(_ notification: AppStoreNotification, in context: HandlerContext) async throws -> Outcome {
    let replay = notification.history.replay
    let origin = StoredEntry.Origin(
      bundleId: notification.bundleId, environment: notification.environment?.rawValue,
      isReplay: replay.map { $0.mode != .requeue } ?? false,
      run: replay.flatMap { $0.mode.reapplies ? $0.id : nil })
    let level = endpoint.current.payload
    let family = NotificationMember.family(ofTopic: notification.history.first.topic, prefix: topicPrefix)
    guard let member = try NotificationMember.of(notification, family: family, payload: level) else { return .ignore }
    guard let state = try await state(of: notification.key, context) else { return Self.unreadableState }
    let request = HandlerRequest(
      id: WebhookID.of(worker: name, .notification, [notification.id], run: origin.run), kind: .notification,
      worker: name, key: notification.key, attempt: context.attempt + 1, isReplay: origin.isReplay,
      isReapply: origin.run != nil, time: notification.signedDate ?? notification.receivedAt, state: state,
      subject: member)
    let now = clock.wallTime
    let reply = try await post(request, trace: notification.traceParent?.description, context)
    return outcome(of: reply, key: notification.key, origin, now: now)
  }

  /// Posts a timer, makes a call to Apple, or posts the result of a call.
  package func timerFired(_ timer: FiredTimer, in context: HandlerContext) async throws -> Outcome {
    guard let entry = StoredEntry(bytes: timer.payload) else {
      return .deadLetter("stored-value", "the payload of the timer \(timer.name) is not one of an HTTP worker")
    }
    if let call = entry.call, entry.result == nil { return try await make(call, entry, timer, context) }
    return try await post(entry, timer, context)
  }

  /// Makes a call to Apple, and sets its timer again with the result. The result is posted when it is committed, so every
  /// attempt posts the same.
  private func make(
    _ call: (operation: AppleOperation, arguments: JSONObject), _ entry: StoredEntry, _ timer: FiredTimer,
    _ context: HandlerContext
  ) async throws -> Outcome {
    var next = entry
    do {
      next.result = try await AppleCall(call.operation, call.arguments, origin: entry.origin).result(
        timer.name, in: context)
    } catch let error as CallNameReused {
      return .deadLetter("call-name-reused", "\(entry.name): \(error)")
    } catch let error as APIError where !error.isWait {
      let delay = error.retryAt.map { $0 - clock.wallTime }
      return .retry(after: delay, because: "apple-error", detail: "\(error)").after(CallAnswer(error))
    }
    if timer.name.utf8.count + next.bytes.count > Outcome.Timer.maximumBytes { next.result = AppleCall.lost }
    return .ignore.settingTimer(timer.name, at: clock.wallTime, payload: next.bytes)
  }

  /// Posts a timer or the result of a call.
  private func post(_ entry: StoredEntry, _ timer: FiredTimer, _ context: HandlerContext) async throws -> Outcome {
    guard let state = try await state(of: timer.key, context) else { return Self.unreadableState }
    let request = HandlerRequest(
      id: WebhookID.of(
        worker: name, entry.kind, [timer.key, entry.name, String(entry.at.millisecondsSince1970)],
        run: entry.origin.run),
      kind: entry.kind, worker: name, key: timer.key, attempt: context.attempt + 1, isReplay: entry.origin.isReplay,
      isReapply: entry.origin.run != nil, time: entry.at, state: state, subject: subject(entry))
    let now = clock.wallTime
    return outcome(of: try await post(request, trace: nil, context), key: timer.key, entry.origin, now: now)
  }
}

// MARK: - Requests

extension HTTPWorker {
  private enum Reply {
    case answered(EndpointAnswer, CallAnswer?)
    /// The circuit is open until this time.
    case held(until: Timestamp)
  }

  /// Sends a request when the circuit allows it.
  private func post(_ request: HandlerRequest, trace: String?, _ context: HandlerContext) async throws -> Reply {
    if let until = try await endpoint.enter(request.id, until: endpoint.latestStart(in: context)) {
      return .held(until: until)
    }
    let (reply, took) = try await endpoint.send(request.id, in: context) { endpoint, now, limit in
      try await endpoint.send(request, trace: trace, now: now, limit: limit)
    } result: {
      (circuitResult($0.answer), $0.cause)
    }
    endpoint.metrics.ended(request.kind, reply, in: took)
    return .answered(reply.answer, reply.facts)
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

  private func subject(_ entry: StoredEntry) -> JSONObject {
    guard let call = entry.call else {
      return ["name": .string(entry.name), "at": .string(entry.at.rfc3339), "payload": entry.payload ?? .null]
    }
    return [
      "name": .string(entry.name), "operation": .string(call.operation.rawValue), "arguments": .object(call.arguments),
      "result": entry.result ?? .null,
    ]
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

  /// Returns the outcome of a reply. Every reply has one, so no decision of an endpoint can be lost.
  private func outcome(
    of reply: Reply, key: String, _ origin: StoredEntry.Origin, now: Timestamp
  ) -> Outcome {
    switch reply {
    case .held(let until): .wait(until: until, because: Self.circuitOpen)
    case .answered(let answer, let facts): outcome(of: answer, key: key, origin, now: now).after(facts)
    }
  }

  private func outcome(
    of answer: EndpointAnswer, key: String, _ origin: StoredEntry.Origin, now: Timestamp
  ) -> Outcome {
    switch answer {
    case .outcome(.results(let results)): outcome(of: results, key: key, origin, now: now)
    case .outcome(.retry(let delay, let reason, let detail)): .retry(after: delay, because: reason, detail: detail)
    case .outcome(.deadLetter(let reason, let detail)): .deadLetter(reason, detail)
    case .nothing: .ignore
    case .later(let time, _):
      .wait(until: clock.wallTime + max(.zero, time - clock.realTime) * clock.rate, because: "endpoint-busy")
    case .failed(let failure, let detail): .retry(because: failure.rawValue, detail: detail)
    case .refused(let status, let detail): .deadLetter("endpoint-refused", "\(status): \(detail)")
    case .misconfigured: .wait(until: clock.wallTime + Self.misconfigurationPause, because: "endpoint-misconfigured")
    case .invalid(let detail): .deadLetter("invalid-outcome", detail)
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
}

extension APIError {
  /// Whether the call has not failed: it has to wait, or its run was cancelled.
  fileprivate var isWait: Bool {
    switch kind {
    case .budget, .rateLimited, .cancelled: true
    default: false
    }
  }
}
