// What a refused client is told: RFC 9457 problem JSON that gives nothing away. Which check failed stands in the
// metrics and the log, not in the answer.

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The answers of the ingress that are not 200. Bodies are built once.
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
    case .malformedHead: "The head of the request is not HTTP, or larger than this endpoint accepts."
    case .unauthorized: "The notification could not be authenticated."
    case .notFound: "Notifications are posted to /v2 or /v1."
    case .methodNotAllowed: "Notifications are posted."
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

  /// The answer.
  /// - Parameters:
  ///   - retryAfter: seconds for `Retry-After`, with ``unavailable`` only.
  ///   - closes: true where the rest of the request is not worth reading.
  func response(retryAfter: Int64? = nil, closes: Bool = false) -> Response {
    Response(
      status: status, headers: headers(retryAfter: retryAfter, closes: closes), body: ResponseBody(byteBuffer: body))
  }

  /// The same answer for where there was no request, and so no ``Response`` either. The connection closes after it.
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
