// The interface between the client and the HTTP library: one request, one response. Tests provide responses from
// memory.

/// Sends a request to a server and returns the response.
///
/// Cancelling the task must cancel the request. The client enforces time limits, not the exchange.
public protocol HTTPExchange: Sendable {
  /// Sends `request` and reads the whole response.
  ///
  /// - Throws: ``TransportFailure`` if no status line arrived or the body is too large. If the body is truncated after
  ///   the status line, the response is returned with ``ExchangeAnswer/isComplete`` set to false.
  func send(_ request: ExchangeRequest) async throws(TransportFailure) -> ExchangeAnswer
}

/// A request that is ready to be sent. It may contain a bearer token or another secret: do not log it.
public struct ExchangeRequest: Sendable {
  /// `GET`, `POST` or `PUT`.
  public let method: APIEndpoint.Method
  /// The absolute URL, percent-encoded.
  public let url: String
  /// The header fields.
  public let headers: APIHeaders
  /// The body; nil if there is none.
  public let body: [UInt8]?

  /// Creates a request.
  public init(method: APIEndpoint.Method, url: String, headers: APIHeaders = [:], body: [UInt8]? = nil) {
    self.method = method
    self.url = url
    self.headers = headers
    self.body = body
  }
}

/// A response.
public struct ExchangeAnswer: Sendable {
  /// The HTTP status.
  public let status: Int
  /// The header fields.
  public let headers: APIHeaders
  /// The body, as far as it was received.
  public let body: [UInt8]
  /// Whether the whole body was received.
  public let isComplete: Bool
  /// Whether the exchange cut the body off because it is too large.
  package let isCutOff: Bool

  /// Creates a response.
  public init(status: Int, headers: APIHeaders = [:], body: [UInt8] = [], isComplete: Bool = true) {
    self.init(status: status, headers: headers, body: body, isComplete: isComplete, isCutOff: false)
  }

  package init(status: Int, headers: APIHeaders, body: [UInt8], isComplete: Bool, isCutOff: Bool) {
    self.status = status
    self.headers = headers
    self.body = body
    self.isComplete = isComplete
    self.isCutOff = isCutOff
  }
}

/// The reason there was no response.
public struct TransportFailure: Error, Sendable, Hashable {
  /// How far the request got.
  public enum Progress: String, Sendable, Hashable {
    /// No byte was sent, because there was no connection.
    case notSent = "not sent"
    /// The request may have arrived and taken effect.
    case unclear
  }

  /// The reason, for a log.
  public let what: String
  /// How far the request got.
  public let progress: Progress
  /// Whether the task was cancelled.
  public let isCancellation: Bool

  /// Creates a failure.
  public init(_ what: String, _ progress: Progress, isCancellation: Bool = false) {
    self.what = what
    self.progress = progress
    self.isCancellation = isCancellation
  }
}
