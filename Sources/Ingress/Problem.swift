// The responses to refused requests: RFC 9457 problem JSON without details that could help an attacker. Metrics and
// logs say which check failed.

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The error responses of the ingress. Their bodies are built once.
enum Problem: Sendable, CaseIterable {
  case malformed
  case malformedHead
  case unauthorized
  case notFound
  case methodNotAllowed
  case tooLarge
  case unavailable

  var status: HTTPResponse.Status {
    switch self {
    case .malformed, .malformedHead: .badRequest
    case .unauthorized: .unauthorized
    case .notFound: .notFound
    case .methodNotAllowed: .methodNotAllowed
    case .tooLarge: .contentTooLarge
    case .unavailable: .serviceUnavailable
    }
  }

  private var detail: String {
    switch self {
    case .malformed: "The body is not an App Store Server Notification."
    case .malformedHead: "The request head is not valid HTTP, or it is larger than this endpoint accepts."
    case .unauthorized: "The notification could not be authenticated."
    case .notFound: "Post notifications to /v2 or /v1."
    case .methodNotAllowed: "Notifications must be sent with POST."
    case .tooLarge: "The body is larger than this endpoint accepts."
    case .unavailable: "The notification was not stored. Send it again later."
    }
  }

  private static let bodies: [Problem: ByteBuffer] = Dictionary(
    uniqueKeysWithValues: allCases.map { problem in
      let status = problem.status
      return (
        problem,
        ByteBuffer(
          string: """
            {"type":"about:blank","title":"\(status.reasonPhrase)","status":\(status.code),"detail":"\(problem.detail)"}
            """)
      )
    })

  /// Returns the response.
  /// - Parameters:
  ///   - retryAfter: The value of `Retry-After` in seconds, with ``unavailable`` only.
  ///   - closes: Whether to close the connection instead of reading the rest of the request.
  func response(retryAfter: Int64? = nil, closes: Bool = false) -> Response {
    Response(
      status: status, headers: headers(retryAfter: retryAfter, closes: closes), body: ResponseBody(byteBuffer: body))
  }

  /// The response as HTTP parts, for malformed heads, which never become a request. The connection closes after it.
  var closingParts: (head: HTTPResponse, body: ByteBuffer) {
    var headers = headers(retryAfter: nil, closes: true)
    headers[.contentLength] = String(body.readableBytes)
    return (HTTPResponse(status: status, headerFields: headers), body)
  }

  private var body: ByteBuffer { Self.bodies[self] ?? ByteBuffer() }

  private func headers(retryAfter: Int64?, closes: Bool) -> HTTPFields {
    var headers: HTTPFields = [.contentType: "application/problem+json"]
    if self == .unavailable, let retryAfter { headers[.retryAfter] = String(retryAfter) }
    if self == .methodNotAllowed { headers[.allow] = "POST" }
    if closes { headers[.connection] = "close" }
    return headers
  }
}
