// An HTTP/2-only server over TLS that records connections, streams and resets.

internal import NIOCore
package import NIOHPACK
package import NIOHTTP2
internal import NIOPosix
package import NIOSSL
internal import Synchronization

/// A server on a free port of the loopback interface.
package final class HTTP2Server: Sendable {
  /// The status for a path; nil leaves the stream open without a response.
  package typealias Answer = @Sendable (_ path: String) -> Int?

  private struct Seen {
    var connections = 0
    var streams: [HPACKHeaders] = []
    var resets: [HTTP2ErrorCode] = []
  }

  private let seen = Mutex(Seen())
  private let answer: Answer
  /// Yields when a request has arrived.
  package let arrivals: AsyncStream<Void>
  private let arrival: AsyncStream<Void>.Continuation
  /// Yields when the client has reset a stream.
  package let resets: AsyncStream<Void>
  private let reset: AsyncStream<Void>.Continuation
  private let port = Mutex(0)

  /// The number of connections.
  package var connections: Int { seen.withLock(\.connections) }
  /// The header fields of each request.
  package var requests: [HPACKHeaders] { seen.withLock(\.streams) }
  /// The reasons of stream resets.
  package var resetCodes: [HTTP2ErrorCode] { seen.withLock(\.resets) }

  /// The base URL.
  package var url: String { "https://127.0.0.1:\(port.withLock { $0 })" }

  private init(_ answer: @escaping Answer) {
    self.answer = answer
    (arrivals, arrival) = AsyncStream.makeStream()
    (resets, reset) = AsyncStream.makeStream()
  }

  /// Runs a server while `body` uses it.
  /// - Parameter version: The newest version of TLS that the server offers; nil: the newest that it knows.
  package static func serving<Result: Sendable>(
    _ certificate: TestCertificate, upTo version: TLSVersion? = nil, _ answer: @escaping Answer,
    _ body: (HTTP2Server) async throws -> Result
  ) async throws -> Result {
    var tls = try certificate.server(requiring: nil)
    tls.maximumTLSVersion = version
    tls.applicationProtocols = ["h2"]
    let context = try NIOSSLContext(configuration: tls)
    let server = HTTP2Server(answer)
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          server.seen.withLock { $0.connections += 1 }
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(NIOSSLServerHandler(context: context))
          _ = try pipeline.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
          ) { stream in
            stream.eventLoop.makeCompletedFuture {
              try stream.pipeline.syncOperations.addHandler(StreamConversation(server))
            }
          }
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    server.port.withLock { $0 = channel.localAddress?.port ?? 0 }
    do {
      let result = try await body(server)
      try await channel.close()
      return result
    } catch {
      try await channel.close()
      throw error
    }
  }

  fileprivate func arrived(_ headers: HPACKHeaders) -> Int? {
    seen.withLock { $0.streams.append(headers) }
    arrival.yield()
    return answer(headers.first(name: ":path") ?? "")
  }

  fileprivate func wasReset(_ code: HTTP2ErrorCode) {
    seen.withLock { $0.resets.append(code) }
    reset.yield()
  }
}

/// A stream with its request.
private final class StreamConversation: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let server: HTTP2Server
  private var headers = HPACKHeaders()

  init(_ server: HTTP2Server) { self.server = server }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let head):
      headers = head.headers
      if head.endStream { answer(context) }
    case .data(let part):
      if part.endStream { answer(context) }
    case .rstStream(let code):
      server.wasReset(code)
    default:
      break
    }
  }

  private func answer(_ context: ChannelHandlerContext) {
    guard let status = server.arrived(headers) else { return }
    let head = HTTP2Frame.FramePayload.Headers(headers: [":status": "\(status)"], endStream: true)
    context.writeAndFlush(wrapOutboundOut(.headers(head)), promise: nil)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
