// From status and body to success or a typed error: a function of values. The status decides; the body is read for Apple's
// error code and may be HTML, empty or cut off without changing that.

internal import AppStore

/// The judgement of one answer.
enum AnswerJudgement {
  /// Why the answer is no success; nil when it is. A 401 counts as refused here: the client knows what it tried.
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
      // What edges and gateways answer: the status is all that it says.
      return nil
    }
  }

  private static func errorClass(_ status: Int, _ code: APIErrorCode?) -> ErrorClass {
    if let code, code.isKnown || code.httpStatus != nil { return code.errorClass }
    return switch status {
    // The API names a code with each of its own 404. Taking a proxy's for Apple's would give up calls that matter.
    case 300..<400, 404, 405, 407, 421: .configuration
    default: ErrorClass(httpStatus: status)
    }
  }
}
