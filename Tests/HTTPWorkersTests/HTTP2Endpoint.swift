// An endpoint that speaks only HTTP/2 over TLS, and answers every request with 204.

import NIOCore
import NIOHPACK
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

final class HTTP2Endpoint: Sendable {
  private let state = Mutex<(requests: [HPACKHeaders], connections: Int)>(([], 0))
  private let port = Mutex(0)

  var url: String { "https://127.0.0.1:\(port.withLock { $0 })/hook" }
  /// The header fields of the requests so far.
  var requests: [HPACKHeaders] { state.withLock(\.requests) }
  /// The number of connections so far.
  var connections: Int { state.withLock(\.connections) }

  /// Runs a server while `body` uses it.
  static func serving<Result: Sendable>(
    _ certificate: TestCertificate, _ body: (HTTP2Endpoint) async throws -> Result
  ) async throws -> Result {
    var tls = try certificate.server(requiring: nil)
    tls.applicationProtocols = ["h2"]
    let (server, context) = (HTTP2Endpoint(), try NIOSSLContext(configuration: tls))
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          server.state.withLock { $0.connections += 1 }
          let pipeline = channel.pipeline.syncOperations
          try pipeline.addHandler(NIOSSLServerHandler(context: context))
          _ = try pipeline.configureHTTP2Pipeline(
            mode: .server, connectionConfiguration: .init(), streamConfiguration: .init()
          ) { stream in
            stream.eventLoop.makeCompletedFuture {
              try stream.pipeline.syncOperations.addHandler(Answering(server))
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

  fileprivate func received(_ headers: HPACKHeaders) { state.withLock { $0.requests.append(headers) } }
}

/// Answers the request of one stream.
private final class Answering: ChannelInboundHandler {
  typealias InboundIn = HTTP2Frame.FramePayload
  typealias OutboundOut = HTTP2Frame.FramePayload

  private let server: HTTP2Endpoint

  init(_ server: HTTP2Endpoint) { self.server = server }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .headers(let head): server.received(head.headers)
    case .data(let part) where part.endStream:
      let head = HTTP2Frame.FramePayload.Headers(headers: [":status": "204"], endStream: true)
      context.writeAndFlush(wrapOutboundOut(.headers(head)), promise: nil)
    default: break
    }
  }
}
