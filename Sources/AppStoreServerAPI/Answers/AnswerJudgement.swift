// Classifies a response by its status and body. The status decides. The body only provides Apple's error code; it may
// be HTML, empty or truncated.

internal import AppStore

/// Classifies one response.
enum AnswerJudgement {
  /// Returns the error in a response, or nil if it is a success. The caller handles 401, because it knows which token
  /// it sent.
  static func error(in answer: ExchangeAnswer, to call: APICall, now: Timestamp) -> APIError? {
    if (200..<300).contains(answer.status) { return nil }
    let body = errorBody(answer)
    let code = body?.errorCode
    let isRateLimit = answer.status == 429
    var error = APIError(
      call, isRateLimit ? .rateLimited : .refused, errorClass(answer.status, code),
      isUnclear: answer.status >= 500 || answer.status == 408,
      retryAt: answer.headers["Retry-After"].flatMap { RetryAfter.parse($0, now: now) }
    ).with(answer)
    error.code = code
    error.message = body?.errorMessage
    return error
  }

  private static func errorBody(_ answer: ExchangeAnswer) -> APIErrorBody? {
    guard answer.isComplete, !answer.body.isEmpty else { return nil }
    do {
      return try APIErrorBody(parsing: answer.body)
    } catch {
      // The body is from a CDN or gateway; only the status is meaningful.
      return nil
    }
  }

  private static func errorClass(_ status: Int, _ code: APIErrorCode?) -> ErrorClass {
    if let code, code.isKnown || code.httpStatus != nil { return code.errorClass }
    return switch status {
    // Apple's API sends an error code with each of its own 404 responses. Mistaking a proxy's 404 for Apple's would
    // abandon calls that matter.
    case 300..<400, 404, 405, 407, 421: .configuration
    default: ErrorClass(httpStatus: status)
    }
  }
}
