// Performs a call within its time limit: waits for a rate-limit slot, gets a token, sends the request, and retries once
// after a 401.

internal import AppStore
internal import AppStoreSignature
internal import MillraceTime
internal import Logging
internal import Synchronization
internal import Tracing

/// Performs the calls of one app.
final class CallRunner: Sendable {
  let budget: APIBudget
  private let bundleId: String
  private let appAppleId: Int64?
  private let baseURLs: APIBaseURLs
  private let verifier: SignedDataVerifier
  private let exchange: any HTTPExchange
  private let clock: MillraceClock
  private let tokens: TokenSource
  private let logger: Logger

  init(
    credentials: APICredentials, appAppleId: Int64?, baseURLs: APIBaseURLs, verifier: SignedDataVerifier,
    exchange: any HTTPExchange, budget: APIBudget, clock: MillraceClock, logger: Logger
  ) {
    self.budget = budget
    self.bundleId = credentials.bundleId
    self.appAppleId = appAppleId
    self.baseURLs = baseURLs
    self.verifier = verifier
    self.exchange = exchange
    self.clock = clock
    self.tokens = TokenSource(credentials, clock: clock)
    self.logger = logger
  }

  var now: Timestamp { clock.wallTime }

  /// Performs a call and returns its response for reading.
  func run(
    _ call: APICall, within limit: Duration, patience: RateLimitWait
  ) async throws(APIError) -> ResponseReader {
    let span = startSpan("AppStoreServerAPI \(call.endpoint.rawValue)", ofKind: .client)
    defer { span.end() }
    span.attributes["http.request.method"] = call.endpoint.method.rawValue
    span.attributes["server.address"] = baseURLs.host(of: call.environment)
    span.attributes["appstore.environment"] = call.environment.rawValue
    do {
      let answer = try await answer(to: call, within: limit, patience)
      span.attributes["http.response.status_code"] = answer.status
      let identity = IdentityPolicy(
        bundleId: bundleId, appAppleId: appAppleId, environments: [call.environment])
      return ResponseReader(call: call, answer: answer, verifier: verifier, identity: identity)
    } catch {
      if let status = error.status { span.attributes["http.response.status_code"] = status }
      span.attributes["error.type"] = error.code.map { "\($0.rawValue)" } ?? "\(error.errorClass.rawValue)"
      span.setStatus(SpanStatus(code: .error, message: error.what))
      throw error
    }
  }

  private func answer(
    to call: APICall, within limit: Duration, _ patience: RateLimitWait
  ) async throws(APIError) -> ExchangeAnswer {
    // Shows, after a timeout or a cancellation, whether the request may have been sent.
    let isSent = SentFlag()
    let deadline = clock.now.advanced(by: limit)
    do {
      let answer = try await clock.result(within: limit) {
        try await self.attempt(call, before: deadline, patience, isSent)
      }
      if let answer { return answer }
    } catch let error as APIError {
      throw error
    } catch {
      throw APIError(call, .cancelled, .retryNow, isUnclear: isSent.value)
    }
    throw APIError(call, .deadline, .retryNow, isUnclear: isSent.value)
  }

  private func attempt(
    _ call: APICall, before deadline: MillraceClock.Instant, _ patience: RateLimitWait, _ isSent: SentFlag
  ) async throws(APIError) -> ExchangeAnswer {
    let (first, answer) = try await send(call, before: deadline, patience, isSent)
    if answer.status != 401 {
      budget.note(isRefused: false, at: key(of: call))
      return try judge(answer, call)
    }
    await tokens.refuse(first)
    logger.notice(
      "Apple rejected a token; retrying once with a new one",
      metadata: [
        "app": "\(bundleId)", "environment": "\(call.environment)", "key": "\(tokens.keyId(of: first))",
      ])
    let (second, retried) = try await send(call, before: deadline, patience, isSent)
    budget.note(isRefused: retried.status == 401, at: key(of: call))
    if retried.status != 401 { return try judge(retried, call) }
    await tokens.refuse(second)
    let keyIds = [first, second].map(tokens.keyId(of:))
    let refusal = TokenRefusal(
      keyIds: keyIds[0] == keyIds[1] ? [keyIds[0]] : keyIds, bundleId: bundleId, date: retried.headers["Date"],
      now: clock.wallTime)
    throw APIError(call, .unauthorized(refusal), .configuration).with(retried)
  }

  /// Logs the items of a response that are not as Apple documents.
  func report(_ skipped: [SkippedItem], of call: APICall) {
    for item in skipped {
      logger.warning(
        "an item of Apple's response is not as documented; it is skipped",
        metadata: [
          "app": "\(bundleId)", "environment": "\(call.environment)", "endpoint": "\(call.endpoint.rawValue)",
          "item": "\(item.item)", "reason": "\(item.error)",
        ])
    }
  }

  /// Waits for a rate-limit slot.
  func turn(
    for call: APICall, before deadline: MillraceClock.Instant, _ patience: RateLimitWait
  ) async throws(APIError) {
    do {
      try await budget.acquire(key(of: call), before: deadline, patience: patience)
    } catch {
      switch error {
      case .tooLate(let turn): throw APIError(call, .budget, .retryLater, retryAt: turn)
      case .cancelled: throw APIError(call, .cancelled, .retryNow)
      }
    }
  }

  /// Takes a rate-limit slot for a later call.
  func takeTurn(
    for call: APICall, within limit: Duration, _ patience: RateLimitWait
  ) async throws(APIError) -> RateLimitSlot {
    try await turn(for: call, before: clock.now.advanced(by: limit), patience)
    return RateLimitSlot(key(of: call))
  }

  private func token(for call: APICall) async throws(APIError) -> APIToken {
    do {
      return try await tokens.token()
    } catch {
      throw APIError(call, .credentials(error), .configuration)
    }
  }

  /// Waits for a slot and sends the request. The token is requested afterwards, because the wait may be longer than a
  /// token's lifetime.
  private func send(
    _ call: APICall, before deadline: MillraceClock.Instant, _ patience: RateLimitWait, _ isSent: SentFlag
  ) async throws(APIError) -> (APIToken, ExchangeAnswer) {
    try await turn(for: call, before: deadline, patience)
    let token = try await token(for: call)
    do {
      isSent.value = true
      let answer = try await exchange.send(request(call, token))
      // A request rejected because of its token had no effect, even if the retry times out.
      if answer.status == 401 { isSent.value = false }
      return (token, answer)
    } catch {
      let isUnclear = error.progress == .unclear
      throw APIError(call, error.isCancellation ? .cancelled : .transport(error), .retryNow, isUnclear: isUnclear)
    }
  }

  private func request(_ call: APICall, _ token: APIToken) -> ExchangeRequest {
    var headers: APIHeaders = [
      "Authorization": "Bearer \(token.jwt)", "User-Agent": "millrace", "Accept": "application/json",
    ]
    if call.body != nil { headers.fields.append(APIHeaders.Field(name: "Content-Type", value: "application/json")) }
    return ExchangeRequest(
      method: call.endpoint.method, url: baseURLs.url(of: call.environment) + call.target, headers: headers,
      body: call.body)
  }

  private func judge(_ answer: ExchangeAnswer, _ call: APICall) throws(APIError) -> ExchangeAnswer {
    guard var error = AnswerJudgement.error(in: answer, to: call, now: clock.wallTime) else { return answer }
    if case .rateLimited = error.kind {
      let until = budget.limitReached(key(of: call), retryAt: error.retryAt)
      error.retryAt = until
      logger.notice(
        "Apple's rate limit is reached; calls are paused",
        metadata: ["budget": "\(key(of: call))", "until": "\(until)"])
    }
    throw error
  }

  private func key(of call: APICall) -> BudgetKey {
    BudgetKey(bundleId: bundleId, environment: call.environment, endpoint: call.endpoint)
  }
}

/// Whether the request may have been sent. The attempt writes it, and it is read when the attempt is abandoned.
private final class SentFlag: Sendable {
  private let state = Mutex(false)

  var value: Bool {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
