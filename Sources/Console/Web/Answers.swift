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

  /// A static file. Browsers may cache it because its address contains the release.
  static func file(_ bytes: [UInt8], type: String) -> Response {
    Response(
      status: .ok, headers: headers(type, cache: "max-age=86400"),
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
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
