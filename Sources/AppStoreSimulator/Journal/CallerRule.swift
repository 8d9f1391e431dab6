// The rules for callers, by name.

/// A rule that a caller of the API must follow. The raw value names the rule in reports.
package enum CallerRule: String, Sendable, Hashable, CaseIterable {
  /// The caller sent more requests than the hourly limit allows.
  case limitExceeded
  /// The caller sent a request before the time that a 429 stated.
  case calledBeforeRetryAfter
  /// The caller sent a token that was rejected.
  case tokenRefused
  /// The caller used a path or method that the API does not have.
  case unknownPath
  /// The caller sent a request that violates a constraint of its endpoint (4000…).
  case invalidRequest
  /// The caller used one `requestIdentifier` for two different requests.
  case requestIdentifierReused
  /// The caller repeated a successful request that Apple did not remember, so its effect happened twice.
  case effectRepeated
  /// The caller repeated a request after a permanent rejection.
  case repeatedAfterFinalAnswer
  /// The caller used a page token with a query other than its own.
  case pageQueryChanged
  /// The caller sent consumption information without the customer's consent.
  case consumptionWithoutConsent
  /// The caller sent consumption information that was not requested.
  case consumptionNotRequested
  /// The caller sent consumption information more than 12 hours after the request.
  case consumptionLate
  /// The caller sent consumption information for a request that was already answered.
  case consumptionRepeated

  /// The rule in a sentence.
  package var explanation: String {
    switch self {
    case .limitExceeded: "stay within the hourly limit of the endpoint"
    case .calledBeforeRetryAfter: "do not call an endpoint before the time in its 429 response"
    case .tokenRefused: "send an unexpired token for this API, signed with the app's key"
    case .unknownPath: "use a path and method of the API"
    case .invalidRequest: "check a request against the documented constraints before sending it"
    case .requestIdentifierReused: "use a requestIdentifier for one request only, always with the same body"
    case .effectRepeated: "check the effect of a request with an unknown result before sending it again"
    case .repeatedAfterFinalAnswer: "do not repeat a permanently rejected request"
    case .pageQueryChanged: "send the same query with every page"
    case .consumptionWithoutConsent: "do not send consumption information without the customer's consent"
    case .consumptionNotRequested: "send consumption information only in response to a CONSUMPTION_REQUEST"
    case .consumptionLate: "answer a CONSUMPTION_REQUEST within 12 hours"
    case .consumptionRepeated: "answer a CONSUMPTION_REQUEST once"
    }
  }
}
