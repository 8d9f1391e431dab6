// The state shared by all requests, apart from the world: rate limits, faults, the journal and callers' earlier
// requests. It is a value; the pipeline guards it with a lock and applies it in order.

internal import AppStore

/// The state kept between requests.
struct RequestGate: Sendable {
  var limits: HourlyLimits
  var faults: FaultPlan
  var journal: RequestJournal
  var conduct: CallerConduct
  var memory: RequestMemory

  init(_ settings: SimulatorSettings) {
    limits = HourlyLimits(settings.limits)
    faults = FaultPlan(settings.faults, seed: settings.seed)
    journal = RequestJournal(capacity: settings.journalCapacity)
    conduct = CallerConduct(grace: settings.callerGrace)
    memory = RequestMemory(settings.requestMemory)
  }

  /// Counts the request against its limit.
  ///
  /// - Returns: the 429 response; nil if the request is admitted.
  mutating func limit(_ call: SimulatedCall) -> APIAnswer? {
    if conduct.isTooEarly(call.subject, now: call.now) {
      journal.breach(.calledBeforeRetryAfter, call.endpoint, "app \(call.bundleId)", at: call.now)
    }
    guard case .refused(let until, let announcedBefore) = limits.count(call.subject, now: call.now) else { return nil }
    if !announcedBefore {
      journal.breach(
        .limitExceeded, call.endpoint, "app \(call.bundleId), \(call.environment.rawValue), until \(until)",
        at: call.now)
    }
    conduct.pause(call.subject, until: until, now: call.now)
    return .failure(.rateLimitExceeded, headers: [.retryAfter(String(until.millisecondsSince1970))])
  }

  /// Records the rules that the caller broke with a rejected request.
  ///
  /// - Parameter isReceived: Whether the caller received the response. A caller cannot respect a response that was lost.
  mutating func note(_ failure: APIFailure, of call: SimulatedCall, path: String, isReceived: Bool) {
    if let code = conduct.finalAnswer(call.subject, path: path, body: call.body), code == failure.code {
      journal.breach(.repeatedAfterFinalAnswer, call.endpoint, "\(path) again after \(code)", at: call.now)
    }
    if isReceived { conduct.remember(failure, call.subject, path: path, body: call.body) }
    switch failure {
    case .invalidCustomerConsented: journal.breach(.consumptionWithoutConsent, call.endpoint, path, at: call.now)
    case _ where failure.status == 400:
      journal.breach(.invalidRequest, call.endpoint, "\(failure.code) \(failure.message)", at: call.now)
    default: break
    }
  }
}
