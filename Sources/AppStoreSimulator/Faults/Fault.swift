// Faults between a caller and Apple, injected on request.

package import AppStore

/// A fault that affects some requests.
package struct Fault: Sendable, Hashable {
  /// The affected endpoints; nil for all.
  package var endpoints: Set<SimulatedEndpoint>?
  /// The affected app; nil for all.
  package var bundleId: String?
  /// The affected environment; nil for both.
  package var environment: AppStoreEnvironment?
  /// The time at which the fault begins; nil for the beginning.
  package var from: Timestamp?
  /// The time at which the fault ends; nil for never.
  package var until: Timestamp?
  /// The largest number of requests to affect; nil for no bound.
  package var count: Int?
  /// The share of requests to affect, above 0 and at most 1.
  package var share: Double
  /// The effect on a request.
  package var effect: FaultEffect

  /// A fault. By default, it affects every request.
  package init(
    _ effect: FaultEffect, endpoints: Set<SimulatedEndpoint>? = nil, bundleId: String? = nil,
    environment: AppStoreEnvironment? = nil, from: Timestamp? = nil, until: Timestamp? = nil, count: Int? = nil,
    share: Double = 1
  ) {
    self.effect = effect
    self.endpoints = endpoints
    self.bundleId = bundleId
    self.environment = environment
    self.from = from
    self.until = until
    self.count = count
    self.share = share
  }
}

/// The effect of a fault on a request.
package enum FaultEffect: Sendable, Hashable {
  /// Delays the response, in the time of the simulator's clock.
  case latency(Duration)
  /// Responds with an error status without processing the request.
  case failure(status: Int, body: FailureBody)
  /// Responds with 429 without processing the request, although no limit is reached.
  case tooManyRequests(RetryAfterForm)
  /// Responds with 401, as for a rejected token, without processing the request.
  case unauthorized
  /// Resets the connection without processing the request.
  case connectionReset
  /// Processes the request, then closes the connection after this share of the response's body.
  case truncatedBody(share: Double)
  /// Processes the request, then resets the connection instead of responding.
  case answerLost

  /// The body of an error response.
  package enum FailureBody: Sendable, Hashable {
    /// No body.
    case empty
    /// A gateway's error page.
    case html
    /// Apple's error object.
    case json(code: Int64, message: String)
  }

  /// The form in which a 429 states when to retry.
  package enum RetryAfterForm: Sendable, Hashable {
    /// The UNIX time in milliseconds, `from` after now. Apple documents this form.
    case milliseconds(from: Duration)
    /// Seconds from now, as in HTTP.
    case seconds(Int64)
    /// A date, as in HTTP, `from` after now.
    case date(from: Duration)
    /// No `Retry-After` header.
    case absent
  }
}
