// Time limits of one HTTP connection, enforced where bytes arrive: a client that sends slowly costs a connection for a
// bounded time and never a thread.

internal import Hummingbird
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

/// Closes connections whose head or body takes too long, and those that an answer with `Connection: close` ends; answers
/// what is no HTTP, which reaches nobody else as a request.
///
/// At any time a timer runs, or a request is being answered, which has a deadline of its own. A client that does not
/// read its answers would outlast that deadline, so it has a timer too.
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
    /// From an answer, or the end of a body that was answered before, to the end of the next head; and for as long may
    /// a client leave answers unread.
    var idle: TimeAmount
  }

  private let limits: Limits
  private let onSlowClient: @Sendable (SlowPart) -> Void
  private let onMalformedHead: @Sendable () -> Void
  private var timer: Scheduled<Void>?
  private var unreadTimer: Scheduled<Void>?
  private var closesAfterAnswer = false
  private var isReadingBody = false
  /// Requests whose head has come and whose answer has not gone: more than one where a client pipelines.
  private var unanswered = 0
  private var head = Head.sound

  /// What became of the bytes after the last request.
  private enum Head { case sound, malformed, refused }

  enum SlowPart: String, Sendable, CaseIterable { case head, body, idle }

  init(
    limits: Limits, onSlowClient: @escaping @Sendable (SlowPart) -> Void,
    onMalformedHead: @escaping @Sendable () -> Void
  ) {
    self.limits = limits
    self.onSlowClient = onSlowClient
    self.onMalformedHead = onMalformedHead
  }

  func handlerAdded(context: ChannelHandlerContext) {
    if context.channel.isActive { start(.head, limits.head, context) }
  }

  func channelActive(context: ChannelHandlerContext) {
    start(.head, limits.head, context)
    context.fireChannelActive()
  }

  func channelInactive(context: ChannelHandlerContext) {
    cancelTimers()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { cancelTimers() }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    switch unwrapInboundIn(data) {
    case .head:
      isReadingBody = true
      unanswered += 1
      start(.body, limits.body, context)
    case .body: break
    case .end:
      isReadingBody = false
      if unanswered == 0 { start(.idle, limits.idle, context) } else { timer?.cancel() }
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

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    unreadTimer?.cancel()
    if !context.channel.isWritable { unreadTimer = schedule(limits.idle, context) {} }
    context.fireChannelWritabilityChanged()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // What comes after a head that could not be read cannot be read either.
    guard head == .sound else { return }
    switch (error is HTTPParserError, isReadingBody) {
    case (true, true) where unanswered == 0: context.close(promise: nil)
    case (true, false):
      head = .malformed
      if unanswered == 0 { refuseHead(context) }
    default: context.fireErrorCaught(error)
    }
  }

  /// Answers, and ends the connection once the client has read that: with bytes of its head unread, closing at once
  /// would reset the connection and lose the answer.
  private func refuseHead(_ context: ChannelHandlerContext) {
    head = .refused
    onMalformedHead()
    let (response, body) = RefusedRequest.malformedHead.problem.closingParts
    context.write(wrapOutboundOut(.head(response)), promise: nil)
    context.write(wrapOutboundOut(.body(body)), promise: nil)
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
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
