// A team's existing receiver: an HTTP server on the loopback interface. It records every byte of a request. A test
// decides whether it answers, delays or disconnects.

import NIOCore
import NIOPosix
import Synchronization

final class OldReceiver: Sendable {
  struct Post: Sendable {
    var line: String
    /// The headers, with names in lower case.
    var headers: [String: String]
    var body: String

    var id: String { headers["webhook-id"] ?? "" }
  }

  /// The reaction to a post.
  enum Reply: Sendable {
    /// Responds with a status. 2xx means that it accepted the notification.
    case answer(Int, retryAfter: String? = nil, after: Duration = .zero)
    /// Accepts the notification and closes the connection without a response.
    case hangUp
    /// Accepts the notification and does not respond.
    case silence

    var takes: Bool {
      switch self {
      case .answer(let status, _, _): (200..<300).contains(status)
      case .hangUp, .silence: true
      }
    }
  }

  private struct State {
    var posts: [Post] = []
    var taken: [Post] = []
    var tries: [String: Int] = [:]
    var watchers: [AsyncStream<Void>.Continuation] = []
    var open = 0
    var mostOpen = 0
  }

  private let channel: any Channel
  private let state: Mutex<State>

  var port: Int { channel.localAddress?.port ?? 0 }
  var url: String { "http://127.0.0.1:\(port)/apple/notifications?v=2" }
  /// All received posts.
  var posts: [Post] { state.withLock { $0.posts } }
  /// The accepted posts in order, including duplicates.
  var taken: [Post] { state.withLock { $0.taken } }
  /// The largest number of concurrent connections.
  var mostConnections: Int { state.withLock { $0.mostOpen } }

  /// Runs a receiver while `body` runs.
  /// - Parameter reply: Returns the reaction to a post. The number counts earlier posts of its notification.
  static func serving<Result: Sendable>(
    _ reply: @escaping @Sendable (Post, Int) -> Reply, _ body: (OldReceiver) async throws -> Result
  ) async throws -> Result {
    let relay = Relay()
    let channel = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(Conversation(relay))
        }
      }
      .bind(host: "127.0.0.1", port: 0).get()
    let receiver = OldReceiver(channel)
    relay.connect(receiver, reply)
    do {
      let result = try await body(receiver)
      try await channel.close()
      return result
    } catch {
      try await channel.close()
      throw error
    }
  }

  private init(_ channel: any Channel) {
    self.channel = channel
    state = Mutex(State())
  }

  /// Waits until the accepted posts satisfy a condition.
  func wait(until isEnough: ([Post]) -> Bool) async {
    let (changes, change) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    state.withLock { $0.watchers.append(change) }
    change.yield()
    for await _ in changes where isEnough(taken) { return }
  }

  fileprivate func receive(_ post: Post, _ decide: (Post, Int) -> Reply) -> Reply {
    state.withLock { state in
      state.posts.append(post)
      let reply = decide(post, state.tries[post.id, default: 0])
      state.tries[post.id, default: 0] += 1
      if reply.takes { state.taken.append(post) }
      for watcher in state.watchers { watcher.yield() }
      return reply
    }
  }

  fileprivate func connected(_ change: Int) {
    state.withLock { state in
      state.open += change
      state.mostOpen = max(state.mostOpen, state.open)
    }
  }
}

/// Connects the connections to the receiver, which is created after them.
private final class Relay: Sendable {
  private let target = Mutex<(OldReceiver, @Sendable (OldReceiver.Post, Int) -> OldReceiver.Reply)?>(nil)

  func connect(_ receiver: OldReceiver, _ reply: @escaping @Sendable (OldReceiver.Post, Int) -> OldReceiver.Reply) {
    target.withLock { $0 = (receiver, reply) }
  }

  func receive(_ post: OldReceiver.Post) -> OldReceiver.Reply {
    guard let (receiver, reply) = target.withLock({ $0 }) else { return .answer(503) }
    return receiver.receive(post, reply)
  }

  func connected(_ change: Int) { target.withLock { $0 }?.0.connected(change) }
}

/// A connection with sequential requests that have `content-length`.
private final class Conversation: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  private let relay: Relay
  private var bytes: [UInt8] = []

  init(_ relay: Relay) { self.relay = relay }

  func channelActive(context: ChannelHandlerContext) { relay.connected(1) }
  func channelInactive(context: ChannelHandlerContext) { relay.connected(-1) }
  func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    bytes += unwrapInboundIn(data).readableBytesView
    while let post = nextPost() { reply(to: post, on: context.channel) }
  }

  private func nextPost() -> OldReceiver.Post? {
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: [13, 10, 13, 10]) }) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(separator: "\r\n")
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      headers[line[..<colon].lowercased()] = String(value)
    }
    let start = end + 4
    let length = headers["content-length"].flatMap { Int($0) } ?? 0
    guard bytes.count >= start + length else { return nil }
    let body = String(decoding: bytes[start..<(start + length)], as: UTF8.self)
    bytes.removeFirst(start + length)
    return OldReceiver.Post(line: lines.first.map(String.init) ?? "", headers: headers, body: body)
  }

  private func reply(to post: OldReceiver.Post, on channel: any Channel) {
    switch relay.receive(post) {
    case .silence: break
    case .hangUp: channel.close(promise: nil)
    case .answer(let status, let retryAfter, let delay):
      let field = retryAfter.map { "retry-after: \($0)\r\n" } ?? ""
      // The client would take a body after a 204 for the response to its next post.
      let content = status == 204 ? "\r\n" : "content-length: 2\r\n\r\nok"
      let text = "HTTP/1.1 \(status) Said\r\n\(field)\(content)"
      let (seconds, attoseconds) = delay.components
      let wait = TimeAmount.nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
      channel.eventLoop.scheduleTask(in: wait) {
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
      }
    }
  }
}
