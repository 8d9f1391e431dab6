// Enforces the time limits of an HTTP connection in its channel pipeline. A slow client occupies a connection for a
// bounded time and never a thread.

package import HTTPTypes
package import NIOCore
internal import NIOHTTP1
package import NIOHTTPTypes

/// Closes a connection if a head or a body takes too long, and after a response with `Connection: close`. Responds to
/// malformed heads, which never become a request, and to `Expect: 100-continue`.
///
/// Ignores an offer of another protocol (`Upgrade`), as RFC 9110, section 7.8, allows, and closes the connection after the
/// response: the HTTP parser stops behind such a request.
///
/// At any time a timer runs or a request is being processed, which has its own deadline. A client that does not read
/// its responses would outlast that deadline, so a timer limits that, too.
package final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
  package typealias InboundIn = HTTPRequestPart
  package typealias InboundOut = HTTPRequestPart
  package typealias OutboundIn = HTTPResponsePart
  package typealias OutboundOut = HTTPResponsePart

  /// The time limits for the parts of an exchange.
  package struct Limits: Sendable, Hashable {
    /// From the connection's start to the end of the first head.
    package var head: TimeAmount
    /// From the end of a head to the end of its body.
    package var body: TimeAmount
    /// From a response to the end of the next head; if the response was sent before the body ended, from the end of the
    /// body. Also limits how long a client may leave responses unread.
    package var idle: TimeAmount

    /// Creates limits.
    package init(head: TimeAmount, body: TimeAmount, idle: TimeAmount) {
      (self.head, self.body, self.idle) = (head, body, idle)
    }
  }

  private let limits: Limits
  private let refusal: (head: HTTPResponse, body: ByteBuffer)
  private let onSlowClient: @Sendable (SlowPart) -> Void
  private let onMalformedHead: @Sendable () -> Void
  private let invites: @Sendable (HTTPRequest) -> Bool
  private var timer: Scheduled<Void>?
  private var unreadTimer: Scheduled<Void>?
  private var closesAfterAnswer = false
  /// Whether such a response has been sent. The rest of the input is read and dropped.
  private var isClosing = false
  private var isReadingBody = false
  /// Whether no request can follow the last one, because the parser stops behind it.
  private var isLastRequest = false
  /// The number of requests without a complete response. It exceeds 1 if the client uses pipelining.
  private var unanswered = 0
  private var head = Head.sound

  /// The state of the head after the last request.
  private enum Head { case sound, malformed, refused }

  /// The part of an exchange that took too long.
  package enum SlowPart: String, Sendable, CaseIterable { case head, body, idle }

  /// Creates a handler for one connection.
  ///
  /// - Parameters:
  ///   - refusal: The response to a malformed head, after which the connection closes.
  ///   - onSlowClient: Called when a head or a body takes too long.
  ///   - onMalformedHead: Called when a head is malformed.
  ///   - invites: Whether to respond `100 Continue` to a head.
  package init(
    limits: Limits, refusal: (head: HTTPResponse, body: ByteBuffer),
    onSlowClient: @escaping @Sendable (SlowPart) -> Void = { _ in },
    onMalformedHead: @escaping @Sendable () -> Void = {}, invites: @escaping @Sendable (HTTPRequest) -> Bool
  ) {
    self.limits = limits
    self.refusal = refusal
    self.onSlowClient = onSlowClient
    self.onMalformedHead = onMalformedHead
    self.invites = invites
  }

  package func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(.head, limits.head, context) }
  }

  package func channelActive(context: ChannelHandlerContext) {
    start(.head, limits.head, context)
    context.fireChannelActive()
  }

  package func channelInactive(context: ChannelHandlerContext) {
    cancelTimers()
    context.fireChannelInactive()
  }

  package func handlerRemoved(context: ChannelHandlerContext) { cancelTimers() }

  package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if isClosing {
      if case .end = unwrapInboundIn(data) { context.close(promise: nil) }
      return
    }
    switch unwrapInboundIn(data) {
    case .head(let request):
      isReadingBody = true
      isLastRequest = request.method == .connect || request.headerFields[.upgrade] != nil
      unanswered += 1
      start(.body, limits.body, context)
      // Not while an earlier request is unanswered: the client would take it for the start of that response.
      if unanswered == 1, invites(request) {
        context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
      }
    case .body: break
    case .end:
      isReadingBody = false
      if unanswered == 0 { start(.idle, limits.idle, context) } else { timer?.cancel() }
    }
    context.fireChannelRead(data)
  }

  package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    switch unwrapOutboundIn(data) {
    case .head(var response):
      if isLastRequest, unanswered == 1 { response.headerFields[.connection] = "close" }
      closesAfterAnswer = response.headerFields[.connection] == "close"
      context.write(wrapOutboundOut(.head(response)), promise: promise)
    case .body: context.write(data, promise: promise)
    case .end where closesAfterAnswer:
      context.writeAndFlush(data, promise: promise)
      isClosing = true
      if isReadingBody { closeOutput(context) } else { context.close(promise: nil) }
    case .end:
      context.write(data, promise: promise)
      unanswered = max(0, unanswered - 1)
      guard unanswered == 0 else { return }
      if head == .malformed {
        refuseHead(context)
      } else if !isReadingBody {
        start(.idle, limits.idle, context)
      }
    }
  }

  /// Reads nothing behind the last request. The parser would collect the bytes without a limit.
  package func read(context: ChannelHandlerContext) {
    if !isLastRequest || isReadingBody { context.read() }
  }

  package func channelWritabilityChanged(context: ChannelHandlerContext) {
    unreadTimer?.cancel()
    if !context.channel.isWritable { unreadTimer = schedule(limits.idle, context) {} }
    context.fireChannelWritabilityChanged()
  }

  package func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // After a malformed head, nothing else on the connection can be parsed.
    guard head == .sound else { return }
    if isClosing { return context.close(promise: nil) }
    switch (error is HTTPParserError, isReadingBody) {
    case (true, true) where unanswered == 0: context.close(promise: nil)
    case (true, false):
      head = .malformed
      if unanswered == 0 { refuseHead(context) }
    default: context.fireErrorCaught(error)
    }
  }

  private func refuseHead(_ context: ChannelHandlerContext) {
    head = .refused
    onMalformedHead()
    context.write(wrapOutboundOut(.head(refusal.head)), promise: nil)
    context.write(wrapOutboundOut(.body(refusal.body)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    closeOutput(context)
  }

  /// Half-closes the connection after a response and gives the client time to read it. While there are unread bytes of
  /// the request, closing at once would reset the connection and lose the response.
  private func closeOutput(_ context: ChannelHandlerContext) {
    context.close(mode: .output, promise: nil)
    start(.idle, limits.head, context)
  }

  private func cancelTimers() {
    timer?.cancel()
    unreadTimer?.cancel()
  }

  private func start(_ part: SlowPart, _ limit: TimeAmount, _ context: ChannelHandlerContext) {
    timer?.cancel()
    timer = schedule(limit, context) { [onSlowClient] in if part != .idle { onSlowClient(part) } }
  }

  private func schedule(
    _ limit: TimeAmount, _ context: ChannelHandlerContext, _ note: @escaping @Sendable () -> Void
  ) -> Scheduled<Void> {
    let loopBound = NIOLoopBound(context, eventLoop: context.eventLoop)
    return context.eventLoop.scheduleTask(in: limit) {
      note()
      loopBound.value.close(promise: nil)
    }
  }
}
