// Processes a request: route, token, faults, limit, endpoint, faults after the effect, journal.

internal import AppStore
internal import MillraceTime

/// Processes the requests of all environments.
final class RequestPipeline: Sendable {
  private let apps: AppDirectory
  private let endpoints: APIEndpoints
  private let check: TokenCheck
  let clock: MillraceClock
  private let gate: Gatekeeper

  init(_ settings: SimulatorSettings, apps: AppDirectory, endpoints: APIEndpoints, clock: MillraceClock) {
    self.apps = apps
    self.endpoints = endpoints
    self.clock = clock
    check = TokenCheck(skew: settings.tokenSkew)
    gate = endpoints.gate
  }

  /// Processes a request.
  ///
  /// - Throws: `CancellationError` if the task is cancelled during a simulated latency.
  func respond(to request: IncomingRequest) async throws -> WireOutcome {
    var entry = RequestJournal.Entry(time: clock.wallTime, environment: request.environment, path: request.path)
    let outcome = try await outcome(of: request, noting: &entry)
    gate.withGate { [entry] in $0.journal.record(entry) }
    return outcome
  }

  private func outcome(
    of request: IncomingRequest, noting entry: inout RequestJournal.Entry
  ) async throws -> WireOutcome {
    let route: APIRoute
    switch APIRoute.match(request.method, path: request.path) {
    case .route(let match): route = match
    case .wrongMethod(let allowed):
      return stray(
        APIAnswer(status: 405, headers: [.init(name: "Allow", value: allowed.joined(separator: ", "))]), &entry)
    case .nothing: return stray(.empty(404), &entry)
    }
    entry.endpoint = route.endpoint
    let caller = Result { () throws(CallerRefusal) in try identify(request) }
    let bundleId: String? = if case .success(let bundleId) = caller { bundleId } else { nil }
    entry.bundleId = bundleId
    let verdict = gate.withGate { [now = entry.time] in
      $0.faults.decide(route.endpoint, bundleId: bundleId, environment: request.environment, now: now)
    }
    if verdict.delay > .zero { try await clock.sleep(for: verdict.delay) }
    if verdict.delay > .zero || verdict.effect != nil { entry.fault = verdict.effect?.name ?? "latency" }
    let now = clock.wallTime
    if let effect = verdict.effect {
      if effect == .connectionReset { return .reset }
      if let answer = effect.answer(now: now) {
        pause(route.endpoint, bundleId, request.environment, effect, now)
        return given(answer, &entry)
      }
    }
    let bundle: String
    switch caller {
    case .success(let bundleId): bundle = bundleId
    case .failure(let refusal):
      gate.withGate { $0.journal.breach(.tokenRefused, route.endpoint, refusal.detail, at: now) }
      return given(refusal.answer, &entry)
    }
    let call = SimulatedCall(
      endpoint: route.endpoint, parameters: route.parameters, bundleId: bundle, environment: request.environment,
      query: request.query, body: request.body, now: now)
    let answer = answer(call, path: request.path, isReceived: verdict.effect.map { !$0.spoilsAnswer } ?? true)
    switch verdict.effect {
    case .answerLost?: return .reset
    case .truncatedBody(let share)?:
      // An empty body cannot be truncated, so the connection is reset instead.
      guard !answer.body.isEmpty else { return .reset }
      _ = given(answer, &entry)
      return .truncated(answer, bytes: min(Int(Double(answer.body.count) * share), answer.body.count - 1))
    default: return given(answer, &entry)
    }
  }

  private func answer(_ call: SimulatedCall, path: String, isReceived: Bool) -> APIAnswer {
    if let refused = gate.withGate({ $0.limit(call) }) { return refused }
    let answer: APIAnswer
    do throws(APIFailure) {
      answer = try endpoints.answer(call)
    } catch {
      answer = .failure(error)
    }
    if let failure = answer.failure { gate.withGate { $0.note(failure, of: call, path: path, isReceived: isReceived) } }
    return answer
  }

  private func given(_ answer: APIAnswer, _ entry: inout RequestJournal.Entry) -> WireOutcome {
    entry.status = answer.status
    entry.errorCode = answer.failure?.code
    return .answer(answer)
  }

  /// A request that matches no endpoint.
  private func stray(_ answer: APIAnswer, _ entry: inout RequestJournal.Entry) -> WireOutcome {
    gate.withGate { [entry] in $0.journal.breach(.unknownPath, nil, entry.path, at: entry.time) }
    return given(answer, &entry)
  }

  /// A 429 from a fault obliges the caller to wait, like any other.
  private func pause(
    _ endpoint: SimulatedEndpoint, _ bundleId: String?, _ environment: AppStoreEnvironment, _ effect: FaultEffect,
    _ now: Timestamp
  ) {
    guard case .tooManyRequests(let retryAfter) = effect, let until = retryAfter.moment(now: now), let bundleId else {
      return
    }
    gate.withGate {
      $0.conduct.pause(
        HourlyLimits.Subject(bundleId: bundleId, environment: environment, endpoint: endpoint), until: until, now: now)
    }
  }

  /// Returns the app that the request is authenticated for.
  private func identify(_ request: IncomingRequest) throws(CallerRefusal) -> String {
    let claims: BearerClaims
    do throws(TokenFlaw) {
      claims = try check.claims(in: request.authorization, now: clock.realTime, key: apps.key)
    } catch {
      throw .token(error)
    }
    return try apps.bundleId(claims, in: request.environment)
  }
}

extension FaultEffect {
  /// Whether the caller does not receive the complete response.
  fileprivate var spoilsAnswer: Bool {
    switch self {
    case .answerLost, .truncatedBody: true
    case .latency, .failure, .tooManyRequests, .unauthorized, .connectionReset: false
    }
  }

  /// The name in fault descriptions.
  var name: String {
    switch self {
    case .latency: "latency"
    case .failure: "status"
    case .tooManyRequests: "tooManyRequests"
    case .unauthorized: "unauthorized"
    case .connectionReset: "connectionReset"
    case .truncatedBody: "truncatedBody"
    case .answerLost: "answerLost"
    }
  }
}
