// What becomes of a request on its connection: an answer, a part of one, or none.

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

/// The end of a request as its caller sees it.
enum WireOutcome: Sendable, Hashable {
  case answer(APIAnswer)
  /// The head announces the whole body; the connection closes after so many bytes of it.
  case truncated(APIAnswer, bytes: Int)
  /// The connection is reset, and nothing said.
  case reset
}

/// Thrown to make the server close a connection.
struct ConnectionGivenUp: Error {}

extension WireOutcome {
  /// Writes the outcome.
  /// - Throws: ``ConnectionGivenUp`` where the connection must end without a proper end.
  /// - Parameter now: the scenario's time for the `Date` of the answer: what tells a caller that its clock is wrong.
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
      // With lingering switched off, closing sends RST in place of FIN.
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
