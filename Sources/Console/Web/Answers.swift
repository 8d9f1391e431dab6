// Answers with the headers that every page of the console has.

internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Makes responses.
enum Answers {
  /// Nothing from elsewhere, nothing inline, in no frame: whatever a record might smuggle into a page has nowhere to run.
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

  /// A file that changes with the release only; its address says which.
  static func file(_ bytes: [UInt8], type: String) -> Response {
    Response(
      status: .ok, headers: headers(type, cache: "max-age=86400"),
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  /// A body that is written piece by piece, and ended when its reader is gone.
  static func stream(
    _ type: String, of request: Request,
    _ write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
  ) -> Response {
    var headers = headers(type)
    // The connection is watched for its end and is of no more use: a client that is not told would send the next request
    // over it.
    headers[.connection] = "close"
    // What stands in front must pass on what it gets.
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
