// The outcome of a request on its connection: a complete response, a truncated one, or none.

internal import AppStore
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// The outcome of a request as its caller sees it.
enum WireOutcome: Sendable, Hashable {
  case answer(APIAnswer)
  /// The header announces the whole body, but the connection closes after `bytes` bytes of it.
  case truncated(APIAnswer, bytes: Int)
  /// The connection is reset without a response.
  case reset
}

/// Thrown to make the server close a connection.
struct ConnectionGivenUp: Error {}

extension WireOutcome {
  /// Writes the outcome.
  ///
  /// - Parameter now: the scenario's time, for the `Date` header. It tells a caller that its clock is wrong.
  /// - Throws: ``ConnectionGivenUp`` if the connection must end without completing the response.
  func write(to writer: consuming ResponseWriter, of channel: any Channel, at now: Timestamp) async throws {
    switch self {
    case .answer(let answer):
      try await writer.write(
        response: answer.head(at: now), body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
    case .truncated(let answer, let bytes):
      var body: any ResponseBodyWriter = try await writer.writeHead(answer.head(at: now))
      try await body.write(ByteBuffer(bytes: answer.body.prefix(bytes)))
      throw ConnectionGivenUp()
    case .reset:
      // With a linger time of zero, closing the socket sends RST instead of FIN.
      if let socket = channel as? any SocketOptionProvider {
        try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
      }
      throw ConnectionGivenUp()
    }
  }
}

extension APIAnswer {
  fileprivate func head(at now: Timestamp) -> HTTPResponse {
    var fields = HTTPFields()
    for header in headers {
      if let name = HTTPField.Name(header.name) { fields[name] = header.value }
    }
    fields[.contentLength] = String(body.count)
    fields[.date] = now.httpDate
    return HTTPResponse(status: HTTPResponse.Status(code: status), headerFields: fields)
  }
}
