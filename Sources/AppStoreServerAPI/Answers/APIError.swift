// The one error of a call. Whoever catches it has to know three things: may the call have had its effect, is it worth
// sending again and when, and if not, who has to do what.

public import AppStore
public import AppStoreSignature

/// Why a call to the App Store Server API brought no answer that can be used.
///
/// Holds no token, no key and no body.
public struct APIError: Error, Sendable {
  /// What happened.
  public enum Kind: Sendable, Hashable {
    /// The request breaks rules that Apple documents. It was not sent.
    case violation([RequestViolation])
    /// No token could be made. The call was not sent.
    case credentials(CredentialsError)
    /// Its turn would come after the deadline, or there is no turn. The call was not sent.
    case budget
    /// Apple answered, and not with success: see ``APIError/status`` and ``APIError/code``.
    case refused
    /// A 429; the budget is paused until ``APIError/retryAt``.
    case rateLimited
    /// A 401 with a fresh token, after a 401 with the one before.
    case unauthorized(TokenRefusal)
    /// No answer came.
    case transport(TransportFailure)
    /// The deadline passed.
    case deadline
    /// The task was cancelled.
    case cancelled
    /// Success by its status, but the body is not what Apple documents.
    case undecodable(String)
    /// Something that Apple should have signed cannot be believed. Nothing of the answer is handed over.
    case unverifiable(item: String, VerificationError)
  }

  /// What was called.
  public let endpoint: APIEndpoint
  /// Where.
  public let environment: AppStoreEnvironment
  /// What happened.
  public let kind: Kind
  /// What has to happen before the same call can succeed.
  public let errorClass: ErrorClass
  /// Whether the call may have had its effect although this error says nothing of it. Send the same bytes again, or find
  /// out. False for calls that only read.
  public let isUnclear: Bool
  /// The HTTP status, when there was an answer.
  public internal(set) var status: Int?
  /// Apple's error code, when the answer held one.
  public internal(set) var code: APIErrorCode?
  /// Apple's words, when the answer held some.
  public internal(set) var message: String?
  /// When it is worth sending again; nil when nobody said.
  public internal(set) var retryAt: Timestamp?
  /// The answer's header fields.
  public internal(set) var headers: APIHeaders = [:]
  /// The environments that gave the same answer before, when the environment was not known.
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

  /// Whether no later call can bring another answer, because of what was asked and not of who asked.
  ///
  /// Of an answer only Apple's error code says so: a bare 400 may be a gateway's, and a cut body anybody's.
  public var isAboutTheQuestion: Bool {
    switch kind {
    case .violation: true
    case .refused: code != nil && errorClass == .never && !isUnclear
    default: false
    }
  }

  /// The same error with what the answer says besides.
  func with(_ answer: ExchangeAnswer) -> APIError {
    var error = self
    error.status = answer.status
    error.headers = answer.headers
    return error
  }
}
