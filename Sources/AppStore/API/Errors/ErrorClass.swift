// How a worker or an operator handles an error of the App Store Server API.

/// The class of an error: the condition under which the same request can succeed.
public enum ErrorClass: String, Sendable, Hashable, Codable, CaseIterable {
  /// A short wait: retry the same request a few times after a short pause.
  case retryNow
  /// A longer wait: delay the request for minutes or more. After a 429, `Retry-After` has the time.
  case retryLater
  /// Never: the request cannot be fulfilled. Change it, or accept the result as final.
  case never
  /// A correction by the operator: the request is valid, but a key, an identifier or a setting in App Store Connect is
  /// wrong.
  case configuration

  /// The class of a response without a known error code.
  ///
  /// 500 and 503 have lasted for many minutes; 408, 502 and 504 concern a single connection or gateway. 401 and 403
  /// without a code concern the token, or an app that was never approved.
  ///
  /// - Parameter httpStatus: the status of the response, whatever its body is.
  public init(httpStatus: Int) {
    self =
      switch httpStatus {
      case 408, 502, 504: .retryNow
      case 429, 500...599: .retryLater
      case 401, 403: .configuration
      default: .never
      }
  }
}
