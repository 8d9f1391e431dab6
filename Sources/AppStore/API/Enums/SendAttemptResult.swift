// How an attempt to deliver a notification ended.

/// The result of one attempt of the App Store to post a notification (App Store Server API, `sendAttemptResult`).
public struct SendAttemptResult: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Any value, known or not.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The server answered with a status from 200 to 206.
  public static let success = SendAttemptResult(rawValue: "SUCCESS")
  /// No answer in time.
  public static let timedOut = SendAttemptResult(rawValue: "TIMED_OUT")
  /// TLS or its certificate failed.
  public static let tlsIssue = SendAttemptResult(rawValue: "TLS_ISSUE")
  /// Redirected in a circle.
  public static let circularRedirect = SendAttemptResult(rawValue: "CIRCULAR_REDIRECT")
  /// No answer at all.
  public static let noResponse = SendAttemptResult(rawValue: "NO_RESPONSE")
  /// The connection failed.
  public static let socketIssue = SendAttemptResult(rawValue: "SOCKET_ISSUE")
  /// The answer was in a character set that the App Store does not read.
  public static let unsupportedCharset = SendAttemptResult(rawValue: "UNSUPPORTED_CHARSET")
  /// The answer was not an answer.
  public static let invalidResponse = SendAttemptResult(rawValue: "INVALID_RESPONSE")
  /// The connection closed before the answer was complete.
  public static let prematureClose = SendAttemptResult(rawValue: "PREMATURE_CLOSE")
  /// A status outside 200 to 206.
  public static let unsuccessfulHTTPResponseCode = SendAttemptResult(rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
  /// Something else.
  public static let other = SendAttemptResult(rawValue: "OTHER")

  /// The values that Apple documents.
  public static let allKnown: [SendAttemptResult] = [
    .success, .timedOut, .tlsIssue, .circularRedirect, .noResponse, .socketIssue, .unsupportedCharset, .invalidResponse,
    .prematureClose, .unsuccessfulHTTPResponseCode, .other,
  ]
}
