// A server that sends exactly the given bytes and then ends the connection in a given way, which HTTP frameworks do not
// allow.

import NIOCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

final class WireServer: Sendable {
  /// The state of the connection after the bytes.
  enum Ending: Sendable {
    /// Closed normally.
    case close
    /// Closed with unread data or linger zero, so the peer gets a reset.
    case reset
    /// Left open until the peer closes it.
    case hold
  }

  private let channel: any Channel
  private let seen = Mutex<[String]>([])
  /// Yields when a peer closed a connection.
  let closings: AsyncStream<Void>
  /// Yields when a request arrived.
  let arrivals: AsyncStream<Void>

  /// The heads of the received requests, with the part of the body that arrived with them.
  var requests: [String] { seen.withLock { $0 } }

  var url: String { "http://127.0.0.1:\(channel.localAddress?.port ?? 0)" }

  private init(
    channel: any Channel, closings: AsyncStream<Void>, arrivals: AsyncStream<Void>
  ) {
    self.channel = channel
    self.closings = closings
    self.arrivals = arrivals
  }

  /// Runs a server while `body` uses it.
  static func serving<Result: Sendable>(
    _ answer: String, _ ending: Ending, _ body: (WireServer) async throws -> Result
  ) async throws -> Result {
    let (closings, closing) = AsyncStream<Void>.makeStream()
    let (arrivals, arrival) = AsyncStream<Void>.makeStream()
    let told = ReceivedRequests()
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(
            Conversation(answer: answer, ending: ending, told: told, arrival: arrival, closing: closing))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let server = WireServer(channel: channel, closings: closings, arrivals: arrivals)
    told.handler.withLock { $0 = { [weak server] text in server?.seen.withLock { $0.append(text) } } }
    return try await channel.open { try await body(server) }
  }
}

extension Channel {
  /// Runs `body`, then closes the channel in any case.
  func open<Result: Sendable>(during body: () async throws -> Result) async throws -> Result {
    let result: Result
    do {
      result = try await body()
    } catch {
      try await close()
      throw error
    }
    try await close()
    return result
  }
}

private final class ReceivedRequests: Sendable {
  let handler = Mutex<@Sendable (String) -> Void>({ _ in })
  func callAsFunction(_ text: String) { handler.withLock { $0 }(text) }
}

private final class Conversation: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let answer: String
  private let ending: WireServer.Ending
  private let told: ReceivedRequests
  private let arrival: AsyncStream<Void>.Continuation
  private let closing: AsyncStream<Void>.Continuation

  init(
    answer: String, ending: WireServer.Ending, told: ReceivedRequests, arrival: AsyncStream<Void>.Continuation,
    closing: AsyncStream<Void>.Continuation
  ) {
    self.answer = answer
    self.ending = ending
    self.told = told
    self.arrival = arrival
    self.closing = closing
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let request = String(buffer: unwrapInboundIn(data))
    guard request.contains(" HTTP/1.1\r\n") else { return }
    told(request)
    arrival.yield()
    let channel = context.channel
    let ending = ending
    channel.writeAndFlush(ByteBuffer(string: answer)).whenComplete { _ in
      switch ending {
      case .hold: break
      case .close: channel.close(promise: nil)
      case .reset:
        let done = (channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
        done?.whenComplete { _ in channel.close(promise: nil) }
      }
    }
  }

  func channelInactive(context: ChannelHandlerContext) { closing.yield() }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
