// Time limits of one HTTP connection, enforced where bytes arrive: a client that sends slowly costs a connection for a
// bounded time and never a thread.

internal import Hummingbird
internal import NIOCore
internal import NIOHTTPTypes

/// Closes connections whose head or body takes too long, and those that an answer with `Connection: close` ends.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// How long each part of an exchange may take.
  struct Limits: Sendable, Hashable {
    /// From the connection's start to the end of the first head.
    var head: TimeAmount
    /// From the end of a head to the end of its body.
    var body: TimeAmount
    /// From an answer to the end of the next head.
    var idle: TimeAmount
  }

  private let limits: Limits
  private let onSlowClient: @Sendable (SlowPart) -> Void
  private var timer: Scheduled<Void>?
  private var closesAfterAnswer = false
  private var isReadingBody = false

  enum SlowPart: String, Sendable, CaseIterable { case head, body, idle }

  init(limits: Limits, onSlowClient: @escaping @Sendable (SlowPart) -> Void) {
    self.limits = limits
    self.onSlowClient = onSlowClient
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(.head, limits.head, context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    start(.head, limits.head, context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      isReadingBody = true
      start(.body, limits.body, context)
    case .body: break
    case .end:
      isReadingBody = false
      timer?.cancel()
    }
    context.fireChannelRead(data)
  }

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(let response):
      closesAfterAnswer = response.headerFields[.connection] == "close"
      context.write(data, promise: promise)
    case .body: context.write(data, promise: promise)
    case .end where closesAfterAnswer:
      // What is left of the body is not read: the answer did not depend on it.
      context.writeAndFlush(data, promise: promise)
      context.close(promise: nil)
    case .end:
      if !isReadingBody { start(.idle, limits.idle, context) }
      context.write(data, promise: promise)
    }
  }

  private func start(_ part: SlowPart, _ limit: TimeAmount, _ context: ChannelHandlerContext) {
    timer?.cancel()
    let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
    timer = context.eventLoop.scheduleTask(in: limit) { [onSlowClient] in
      if part != .idle { onSlowClient(part) }
      loopBound.value.close(promise: nil)
    }
  }
}
