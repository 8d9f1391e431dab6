// The rules that a caller can break, by name.

/// What a caller of the API must not do. The raw value names the rule in reports.
public enum CallerRule: String, Sendable, Hashable, CaseIterable {
  /// More requests than the hour allows.
  case limitExceeded
  /// A request although a 429 had named a later time.
  case calledBeforeRetryAfter
  /// A token that was refused.
  case tokenRefused
  /// A path or method that the API does not have.
  case unknownPath
  /// A request that breaks a constraint of its endpoint (4000…).
  case invalidRequest
  /// One `requestIdentifier` for two different requests.
  case requestIdentifierReused
  /// A request that succeeded was sent again, and Apple had forgotten it: its effect happened twice.
  case effectRepeated
  /// The same request again after an answer that no repetition changes.
  case repeatedAfterFinalAnswer
  /// A page token with another query than the one it came from.
  case pageQueryChanged
  /// Consumption information without the customer's consent.
  case consumptionWithoutConsent
  /// Consumption information that nobody asked for.
  case consumptionNotRequested
  /// Consumption information more than 12 hours after the request.
  case consumptionLate
  /// Consumption information for a request that was answered before.
  case consumptionRepeated

  /// The rule in a sentence.
  public var explanation: String {
    switch self {
    case .limitExceeded: "stay inside the hourly limit of the endpoint"
    case .calledBeforeRetryAfter: "do not call an endpoint before the time that its 429 named"
    case .tokenRefused: "send a token that is signed by the app's key, for this API, and not out of date"
    case .unknownPath: "call paths that the API has, by their method"
    case .invalidRequest: "check a request against the documented constraints before it is sent"
    case .requestIdentifierReused: "use a requestIdentifier for one request only, and with the same body"
    case .effectRepeated: "find out what a request of unclear outcome did before sending it again"
    case .repeatedAfterFinalAnswer: "do not repeat a request that was refused for good"
    case .pageQueryChanged: "send the same query with every page"
    case .consumptionWithoutConsent: "send nothing for a customer who did not consent"
    case .consumptionNotRequested: "send consumption information only when a CONSUMPTION_REQUEST asks for it"
    case .consumptionLate: "answer a CONSUMPTION_REQUEST within 12 hours"
    case .consumptionRepeated: "answer a CONSUMPTION_REQUEST once"
    }
  }
}
