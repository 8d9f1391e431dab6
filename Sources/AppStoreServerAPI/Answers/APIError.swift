// The error of a call. It answers three questions: may the call have taken effect, when is a retry worthwhile, and if
// it is not, who has to do what.

public import AppStore
public import AppStoreSignature

/// The reason a call to the App Store Server API returned no usable response.
///
/// Contains no token, key or body.
public struct APIError: Error, Sendable {
  /// The kind of failure.
  public enum Kind: Sendable, Hashable {
    /// The request violates rules that Apple documents. It was not sent.
    case violation([RequestViolation])
    /// No token could be signed. The call was not sent.
    case credentials(CredentialsError)
    /// The rate-limit slot would come after the deadline, or the process has no share of the budget. The call was not
    /// sent.
    case budget
    /// Apple responded with an error: see ``APIError/status`` and ``APIError/code``.
    case refused
    /// Apple responded with 429. The budget is paused until ``APIError/retryAt``.
    case rateLimited
    /// Apple rejected two tokens in a row with 401.
    case unauthorized(TokenRefusal)
    /// No response arrived.
    case transport(TransportFailure)
    /// The deadline passed.
    case deadline
    /// The task was cancelled.
    case cancelled
    /// The status is a success, but the body is not as documented.
    case undecodable(String)
    /// The signature of an item could not be verified. No part of the response is returned.
    case unverifiable(item: String, VerificationError)
  }

  /// The endpoint.
  public let endpoint: APIEndpoint
  /// The environment.
  public let environment: AppStoreEnvironment
  /// The kind of failure.
  public let kind: Kind
  /// The condition under which the same call can succeed.
  public let errorClass: ErrorClass
  /// Whether the call may have taken effect even though it failed. Send the same bytes again, or check the effect.
  /// Always false for calls that only read.
  public let isUnclear: Bool
  /// The HTTP status; nil if there was no response.
  public internal(set) var status: Int?
  /// Apple's error code; nil if the response had none.
  public internal(set) var code: APIErrorCode?
  /// Apple's error message; nil if the response had none.
  public internal(set) var message: String?
  /// The earliest time for a retry; nil if unknown.
  public internal(set) var retryAt: Timestamp?
  /// The header fields of the response.
  public internal(set) var headers: APIHeaders = [:]
  /// The environments that gave the same response before this one, if the call did not name an environment.
  public internal(set) var alsoAsked: [AppStoreEnvironment] = []

  init(
    _ call: APICall, _ kind: Kind, _ errorClass: ErrorClass, isUnclear: Bool = false, retryAt: Timestamp? = nil
  ) {
    endpoint = call.endpoint
    environment = call.environment
    self.kind = kind
    self.errorClass = errorClass
    self.isUnclear = isUnclear && call.endpoint.hasEffect
    self.retryAt = retryAt
  }

  /// Whether the request itself is the reason, so that no later call can have a different result.
  ///
  /// For a response, only Apple's error code shows this: a bare 400 may be a gateway's, and a truncated body may have
  /// any origin.
  public var isAboutTheQuestion: Bool {
    switch kind {
    case .violation: true
    case .refused: code != nil && errorClass == .never && !isUnclear
    default: false
    }
  }

  /// The item, if Apple signed it and only its contents are not as documented; nil for any other error.
  package var skippedItem: SkippedItem? {
    guard case .unverifiable(let item, let error) = kind, error.isGenuine || error.reason == .format else { return nil }
    return SkippedItem(item: item, error: error)
  }

  /// Returns the error with the response's status and headers.
  func with(_ answer: ExchangeAnswer) -> APIError {
    var error = self
    error.status = answer.status
    error.headers = answer.headers
    return error
  }
}
