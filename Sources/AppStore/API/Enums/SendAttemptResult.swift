/// The result of one attempt by the App Store to post a notification (App Store Server API, `sendAttemptResult`).
public struct SendAttemptResult: OpenEnum {
  /// The value as Apple writes it.
  public let rawValue: String

  /// Creates a value, known or unknown.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// The server responded with a status from 200 to 206.
  public static let success = SendAttemptResult(rawValue: "SUCCESS")
  /// The server did not respond in time.
  public static let timedOut = SendAttemptResult(rawValue: "TIMED_OUT")
  /// The TLS handshake or the certificate failed.
  public static let tlsIssue = SendAttemptResult(rawValue: "TLS_ISSUE")
  /// The server redirected in a circle.
  public static let circularRedirect = SendAttemptResult(rawValue: "CIRCULAR_REDIRECT")
  /// The server did not respond.
  public static let noResponse = SendAttemptResult(rawValue: "NO_RESPONSE")
  /// The connection failed.
  public static let socketIssue = SendAttemptResult(rawValue: "SOCKET_ISSUE")
  /// The response used a character set that the App Store does not support.
  public static let unsupportedCharset = SendAttemptResult(rawValue: "UNSUPPORTED_CHARSET")
  /// The response was invalid.
  public static let invalidResponse = SendAttemptResult(rawValue: "INVALID_RESPONSE")
  /// The connection closed before the response was complete.
  public static let prematureClose = SendAttemptResult(rawValue: "PREMATURE_CLOSE")
  /// The server responded with a status outside 200 to 206.
  public static let unsuccessfulHTTPResponseCode = SendAttemptResult(rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
  /// Another failure.
  public static let other = SendAttemptResult(rawValue: "OTHER")

  /// The values that Apple documents.
  public static let allKnown: [SendAttemptResult] = [
    .success, .timedOut, .tlsIssue, .circularRedirect, .noResponse, .socketIssue, .unsupportedCharset, .invalidResponse,
    .prematureClose, .unsuccessfulHTTPResponseCode, .other,
  ]
}
