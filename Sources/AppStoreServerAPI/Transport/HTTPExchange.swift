// The seam between what is decided about a call and what carries it: one request, one answer. Tests answer from memory.

/// Carries one request to a server and brings one answer.
///
/// Cancelling the task must cancel the request. Limits of time are not its business: the client has them.
public protocol HTTPExchange: Sendable {
  /// Sends `request` and reads the whole answer.
  ///
  /// - Throws: ``TransportFailure`` when no status line came, or the body is larger than the exchange accepts. A body
  ///   that breaks off after the status line is an answer with ``ExchangeAnswer/isComplete`` false.
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer
}

/// One request, ready to be sent. It may hold a bearer token or another secret: do not log it.
public struct ExchangeRequest: Sendable {
  /// `GET`, `POST` or `PUT`.
  public let method: APIEndpoint.Method
  /// The absolute URL, encoded.
  public let url: String
  /// The header fields.
  public let headers: APIHeaders
  /// The body; nil when there is none.
  public let body: [UInt8]?

  /// A request of these parts.
  public init(method: APIEndpoint.Method, url: String, headers: APIHeaders = [:], body: [UInt8]? = nil) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// One answer.
public struct ExchangeAnswer: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The header fields.
  public let headers: APIHeaders
  /// As much of the body as came.
  public let body: [UInt8]
  /// Whether the body came to its end.
  public let isComplete: Bool

  /// An answer of these parts.
  public init(status: Int, headers: APIHeaders = [:], body: [UInt8] = [], isComplete: Bool = true) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isComplete = isComplete
  }
}

/// Why there was no answer.
public struct TransportFailure: Error, Sendable, Hashable {
  /// How far the request came.
  public enum Progress: String, Sendable, Hashable {
    /// No byte of it left: no connection was made.
    case notSent = "not sent"
    /// It may have arrived and had its effect.
    case unclear
  }

  /// What happened, for a log.
  public let what: String
  /// How far the request came.
  public let progress: Progress
  /// Whether the task was cancelled.
  public let isCancellation: Bool

  /// A failure of that kind.
  public init(_ what: String, _ progress: Progress, isCancellation: Bool = false) {
    self.what = what
    self.progress = progress
    self.isCancellation = isCancellation
  }
}
