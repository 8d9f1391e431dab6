// Builds responses with the security headers of every page.

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

enum Answers {
  /// Allows no external or inline content and no framing, so that markup injected through a record could not run.
  static let contentSecurityPolicy = [
    "default-src 'none'", "style-src 'self'", "script-src 'self'", "img-src 'self'", "connect-src 'self'",
    "form-action 'self'", "base-uri 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")

  private static let fixed: [(String, String)] = [
    ("Content-Security-Policy", contentSecurityPolicy), ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"), ("Referrer-Policy", "same-origin"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Permissions-Policy", "camera=(), geolocation=(), microphone=(), payment=()"),
  ]

  static func headers(_ type: String, cache: String = "no-store") -> HTTPFields {
    var headers: HTTPFields = [.contentType: type, .cacheControl: cache]
    for (name, value) in fixed { if let name = HTTPField.Name(name) { headers[name] = value } }
    return headers
  }

  static func page(_ html: HTML, status: HTTPResponse.Status = .ok) -> Response {
    Response(
      status: status, headers: headers("text/html; charset=utf-8"),
      body: ResponseBody(byteBuffer: ByteBuffer(string: html.text)))
  }

  /// The response to a malformed head, which never becomes a request. The connection closes after it.
  static var malformedHead: (head: HTTPResponse, body: ByteBuffer) {
    let body = ByteBuffer(string: "The request is not valid HTTP, or its head is too large.\n")
    var headers = headers("text/plain; charset=utf-8")
    headers[.connection] = "close"
    headers[.contentLength] = "\(body.readableBytes)"
    return (HTTPResponse(status: .badRequest, headerFields: headers), body)
  }

  /// A static file. Browsers may cache it because its address contains the release.
  static func file(_ bytes: [UInt8], type: String) -> Response {
    Response(
      status: .ok, headers: headers(type, cache: "max-age=86400"),
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  /// Makes a response while watching the connection. The work is cancelled if the client disconnects.
  /// - Throws: The error of `work`; `CancellationError`.
  static func whileConnected(
    _ request: Request, _ work: @Sendable () async throws -> Response
  ) async throws -> Response {
    var response = try await request.body.consumeWithCancellationOnInboundClose { _ in try await work() }
    // Watching for the disconnection makes the connection unusable for another request.
    response.headers[.connection] = "close"
    return response
  }

  /// A response whose body is streamed. Writing is cancelled if the client disconnects.
  static func stream(
    _ type: String, of request: Request,
    _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
  ) -> Response {
    var headers = headers(type)
    // Watching for the disconnection makes the connection unusable for another request.
    headers[.connection] = "close"
    // Tells a reverse proxy not to buffer the response.
    if let buffering = HTTPField.Name("X-Accel-Buffering") { headers[buffering] = "no" }
    return Response(
      status: .ok, headers: headers,
      body: ResponseBody { writer in
        try await request.body.consumeWithCancellationOnInboundClose { _ in try await write(&writer) }
        try await writer.finish(nil)
      })
  }
}

extension ResponseBodyWriter {
  mutating func write(_ text: String) async throws { try await write(ByteBuffer(string: text)) }
}
