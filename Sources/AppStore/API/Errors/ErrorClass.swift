// What an operator, and a worker in the operator's place, does about an error of the App Store Server API.

/// The class of an error: what has to happen before the same request can succeed.
public enum ErrorClass: String, Sendable, Hashable, Codable, CaseIterable {
  /// Time alone, and little of it: the same request again after a short pause, a few times.
  case retryNow
  /// Time alone, minutes or more: put the request aside. After a 429 the time is in `Retry-After`.
  case retryLater
  /// Nothing: the request asks for what cannot be done. Change the request, or take the answer as final.
  case never
  /// A person: the request is right, but a key, an identifier or a setting in App Store Connect is not.
  case configuration

  /// The class of an answer that carries no error code that we know.
  ///
  /// 500 and 503 have lasted for many minutes; 408, 502 and 504 come from one connection or one gateway. 401 and 403
  /// without a code are about the token, or an app that was never approved.
  ///
  /// - Parameter httpStatus: the status that came, whatever the body is.
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
